// SPDX-License-Identifier: Apache-2.0
//
// Doing something once: pthread_once, and what std::call_once calls in libc++. (Guards of static
// locals belong to the runtime itself.)
//
// libc++'s own version is precompiled, so a transaction could not roll its flag back; hence this
// one. The only file here that is compiled with exceptions: one that leaves the function to be
// called must set the flag back.
#include <pthread.h>
#include <sys/syscall.h>

#include <cstdint>

#include "lab/runtime/kernel_call.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

/// The states of a flag of `T`. Waiters sleep on its address.
template <typename T>
struct flag_states {
  T idle;
  T running;
  T done;
};

template <typename T, typename Function>
void once(T* flag, const flag_states<T>& states, const Function& function) {
  const atomic_word<T> word(flag);
  if (word.load() == states.done) return;
  const auto become = [&](T state) {
    word.store(state);
    // As in glibc, whoever ran it wakes those who wait, if there are any; a transaction survives
    // when there are none, because those that come later see the flag.
    if (futex::anybody_waits(flag)) futex::wake(flag, futex::everybody);
  };
  while (!word.compare_exchange(states.idle, states.running)) {
    if (word.load() == states.done) return;
    const waiting_for reason(reason::once, flag);
    scheduler::enter_kernel();
    if (word.load() == states.running) futex::sleep_on(flag);
  }
  try {
    function();
  } catch (...) {
    become(states.idle);
    throw;
  }
  become(states.done);
}

/// The same among threads of the host, which have no other way to libc++'s version.
template <typename Function>
void once_on_host(unsigned long* flag, const Function& function) {
  constexpr unsigned long done = ~0ul;
  for (;;) {
    unsigned long seen = 0;
    if (__atomic_compare_exchange_n(flag, &seen, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      break;
    if (seen == done) return;
    kernel_call(SYS_sched_yield);
  }
  try {
    function();
  } catch (...) {
    __atomic_store_n(flag, 0, __ATOMIC_RELEASE);
    throw;
  }
  __atomic_store_n(flag, done, __ATOMIC_RELEASE);
}

}  // namespace

UNLATCH_LAB_INTERPOSE int pthread_once(pthread_once_t* flag, void (*function)()) {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_once)(flag, function);
  once<int>(flag, {0, 1, 2}, function);
  return 0;
}

// std::__1::__call_once(volatile unsigned long& flag, void* argument, void (*function)(void*))
UNLATCH_LAB_INTERPOSE void unlatch_lab_call_once(
    volatile unsigned long& flag, void* argument,
    void (*function)(void*)) asm("_ZNSt3__111__call_onceERVmPvPFvS2_E");

UNLATCH_LAB_INTERPOSE void unlatch_lab_call_once(volatile unsigned long& flag, void* argument,
                                                 void (*function)(void*)) {
  auto* const plain = const_cast<unsigned long*>(&flag);
  const auto call = [&] { function(argument); };
  if (host_mode()) {
    once_on_host(plain, call);
  } else {
    once<unsigned long>(plain, {0, 1, ~0ul}, call);
  }
}
