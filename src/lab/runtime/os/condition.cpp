// SPDX-License-Identifier: Apache-2.0
//
// POSIX condition variables.
//
// glibc's keep two groups of waiters, with an internal lock. Here the order of waiters is the
// kernel's queue, and of the object only the count of waiters (glibc's __wrefs, which is what a
// notify reads first) is used; the rest is touched as often as glibc's code does, without changing
// it, so that it costs and conflicts the same. So a condition variable that nobody waits for looks
// the same to glibc and to us.
#include <pthread.h>

#include <cerrno>
#include <ctime>

#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"
#include "lab/runtime/os/mutex.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

constexpr unsigned one_waiter = 8;     // of __wrefs, above its flags
constexpr unsigned monotonic_bit = 2;  // the flag: CLOCK_MONOTONIC is this object's clock

/// The object as words: what is touched, and the count.
futex_word sequence(pthread_cond_t& condition) noexcept { return futex_word(&condition); }
futex_word signals(pthread_cond_t& condition) noexcept {
  return futex_word(&condition.__data.__g_signals[0]);
}
futex_word waiters(pthread_cond_t& condition) noexcept {
  return futex_word(&condition.__data.__wrefs);
}

int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, cycles deadline) noexcept {
  leave_transaction();
  sequence(condition).fetch_add(0);
  waiters(condition).fetch_add(one_waiter);
  // It counts as waiting from here on: a notify after the unlock must reach it.
  unsigned count = 0;
  const waiting_for reason(reason::condition, &condition);
  futex::arrive(&condition);
  int result = mutexes::unlock_to_wait(mutex, count);
  if (result != 0) {
    futex::leave();
  } else {
    scheduler::enter_kernel();
    result = futex::sleep(deadline);
    signals(condition).compare_exchange(0, 0);
  }
  waiters(condition).fetch_add(0u - one_waiter);
  if (result != EPERM) mutexes::lock_after_wait(mutex, count);
  return result;
}

int notify(pthread_cond_t& condition, unsigned count) noexcept {
  if (waiters(condition).load() < one_waiter) return 0;
  leave_transaction();
  sequence(condition).fetch_or(0);  // the internal lock
  signals(condition).fetch_add(0);
  sequence(condition).fetch_and(~0u);  // and its release
  futex::wake(&condition, count);
  return 0;
}

}  // namespace

UNLATCH_LAB_INTERPOSE int pthread_cond_init(pthread_cond_t* __restrict condition,
                                            const pthread_condattr_t* __restrict how) noexcept {
  if (!host_mode()) will_write(condition, sizeof *condition);
  return UNLATCH_LAB_HOST(pthread_cond_init)(condition, how);
}

UNLATCH_LAB_INTERPOSE int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_cond_destroy)(condition);
  waiters(*condition).fetch_or(0);
  return 0;
}

UNLATCH_LAB_INTERPOSE int pthread_cond_wait(pthread_cond_t* __restrict condition,
                                            pthread_mutex_t* __restrict mutex) {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_cond_wait)(condition, mutex);
  return wait(*condition, *mutex, futex::never);
}

UNLATCH_LAB_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* __restrict condition,
                                                 pthread_mutex_t* __restrict mutex,
                                                 const timespec* __restrict until) {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_cond_timedwait)(condition, mutex, until);
  const timespec copy = read(*until);
  if (!valid(copy)) return EINVAL;
  const bool monotonic = (condition->__data.__wrefs & monotonic_bit) != 0;
  return wait(*condition, *mutex, deadline_at(monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME, copy));
}

UNLATCH_LAB_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* __restrict condition,
                                                 pthread_mutex_t* __restrict mutex, clockid_t clock,
                                                 const timespec* __restrict until) {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_cond_clockwait)(condition, mutex, clock, until);
  const timespec copy = read(*until);
  if (!valid(copy)) return EINVAL;
  return wait(*condition, *mutex, deadline_at(clock, copy));
}

UNLATCH_LAB_INTERPOSE int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_cond_signal)(condition);
  return notify(*condition, 1);
}

UNLATCH_LAB_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_cond_broadcast)(condition);
  return notify(*condition, futex::everybody);
}
