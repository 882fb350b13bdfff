// SPDX-License-Identifier: Apache-2.0
//
// mmap and its kin. A simulated program's mappings lie at addresses of their own, given out one
// after the other, because what hashes an address must see the same one in every run.
#include "lab/runtime/os/mapped_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uintptr_t first_mapping = 0x3000'0000'0000;
constexpr std::uintptr_t alignment = 0x1000;
std::uintptr_t next_mapping = first_mapping;

}  // namespace

namespace unlatch::lab::os {

void forget_mappings() noexcept { next_mapping = first_mapping; }

}  // namespace unlatch::lab::os

UNLATCH_LAB_INTERPOSE void* mmap(void* at, size_t size, int protection, int flags, int file,
                                 off_t from) noexcept {
  if (host_mode() || at != nullptr) {
    scheduler::enter_kernel();
    return UNLATCH_LAB_HOST(mmap)(at, size, protection, flags, file, from);
  }
  scheduler::enter_kernel();
  // A run before this one may have left something there.
  for (;;) {
    void* const place = reinterpret_cast<void*>(next_mapping);  // NOLINT(performance-no-int-to-ptr)
    next_mapping += (size + alignment - 1) / alignment * alignment + alignment;
    void* const result =
        UNLATCH_LAB_HOST(mmap)(place, size, protection, flags | MAP_FIXED_NOREPLACE, file, from);
    if (result == place) return result;
    if (errno != EEXIST) return result;
  }
}

UNLATCH_LAB_INTERPOSE int munmap(void* at, size_t size) noexcept {
  scheduler::enter_kernel();
  return UNLATCH_LAB_HOST(munmap)(at, size);
}

UNLATCH_LAB_INTERPOSE int mprotect(void* at, size_t size, int protection) noexcept {
  scheduler::enter_kernel();
  return UNLATCH_LAB_HOST(mprotect)(at, size, protection);
}

UNLATCH_LAB_INTERPOSE int madvise(void* at, size_t size, int advice) noexcept {
  scheduler::enter_kernel();
  return UNLATCH_LAB_HOST(madvise)(at, size, advice);
}

UNLATCH_LAB_INTERPOSE int msync(void* at, size_t size, int flags) {
  scheduler::enter_kernel();
  return UNLATCH_LAB_HOST(msync)(at, size, flags);
}
