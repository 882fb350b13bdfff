// SPDX-License-Identifier: Apache-2.0
//
// Functions that libc++ keeps in its archive and that write to objects of the program: here they
// are instrumented. A transaction that drops a reference or ends a stream, and aborts, must be
// undone.

#include <ios>
#include <memory>

namespace std {
inline namespace _LIBCPP_ABI_NAMESPACE {

// Counts are one less than the number of owners, in libc++'s way.

void __shared_weak_count::__release_weak() noexcept {
  if (__atomic_load_n(&__shared_weak_owners_, __ATOMIC_ACQUIRE) == 0 ||
      __atomic_add_fetch(&__shared_weak_owners_, -1, __ATOMIC_ACQ_REL) == -1) {
    __on_zero_shared_weak();
  }
}

__shared_weak_count* __shared_weak_count::lock() noexcept {
  long owners = __atomic_load_n(&__shared_owners_, __ATOMIC_SEQ_CST);
  while (owners != -1) {
    if (__atomic_compare_exchange_n(&__shared_owners_, &owners, owners + 1, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      return this;
    }
  }
  return nullptr;
}

void ios_base::clear(iostate state) {
  __rdstate_ = __rdbuf_ != nullptr ? state : state | badbit;
  if ((__rdstate_ & __exceptions_) != 0) __throw_failure("ios_base::clear");
}

}  // namespace _LIBCPP_ABI_NAMESPACE
}  // namespace std
