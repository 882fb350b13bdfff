// SPDX-License-Identifier: Apache-2.0
//
// The object that `unlatch profile` loads into a program: it stands in front of the functions that
// take locks, calls the real ones, and tells the recorder what happened.
//
// A lock is tried first, so that it shows whether it was free; then it is waited for as the
// program asked. Does nothing else where the environment names no recording (recording.hpp).
#include <errno.h>

#include "src/probe/engine/system_calls.hpp"
#include "src/probe/recorder/acquisitions.hpp"
#include "src/probe/recorder/program_handlers.hpp"
#include "src/probe/recorder/real_functions.hpp"
#include "src/probe/recorder/sampling.hpp"

const char unlatch::probe::engine::complaint_prefix[] = "unlatch profile: ";

namespace unlatch::probe::recorder {
namespace {

using recording::lock_kind;

#define UNLATCH_EXPORTED extern "C" __attribute__((visibility("default")))
#define UNLATCH_CALL_SITE reinterpret_cast<std::uint64_t>(__builtin_return_address(0))

/// The value of recording::file_variable; null if there is none.
const char* recording_named_in(char** environment) noexcept {
  constexpr unsigned length = sizeof recording::file_variable - 1;
  for (; *environment != nullptr; ++environment) {
    unsigned i = 0;
    while (i < length && (*environment)[i] == recording::file_variable[i]) ++i;
    if (i == length && (*environment)[i] == '=') return *environment + i + 1;
  }
  return nullptr;
}

[[gnu::constructor(101)]] void start(int, char**, char** environment) noexcept {
  static_cast<void>(real());
  const char* const path = recording_named_in(environment);
  if (path != nullptr) start_recording(path);
}

std::uint64_t address(const volatile void* lock) noexcept {
  return reinterpret_cast<std::uint64_t>(lock);
}

/// Takes a lock by `wait`, having tried it first.
template <class Try, class Wait>
int acquire(std::uint64_t lock, lock_kind kind, std::uint64_t site, Try try_it,
            Wait wait) noexcept {
  recorded_thread* const thread = this_thread();
  if (thread == nullptr) return wait();
  attempt went{try_it(), false, false, 0};
  if (__builtin_expect(went.result == EBUSY, 0)) {
    went.contended = true;
    went.by_sample = is_being_sampled(lock);
    const std::uint64_t from = ticks();
    went.result = wait();
    went.wait = ticks() - from;
  }
  note_attempt(*thread, lock, site, kind, went);
  if (__builtin_expect(thread->sampling, 0)) step_on(*thread);
  return went.result;
}

/// Only tries.
template <class Try>
int try_to_acquire(std::uint64_t lock, lock_kind kind, std::uint64_t site, Try try_it) noexcept {
  static_cast<void>(real());
  const int result = try_it();
  if (recorded_thread* const thread = this_thread()) {
    note_attempt(*thread, lock, site, kind, {result, false, false, 0});
    if (thread->sampling) step_on(*thread);
  }
  return result;
}

template <class Release>
int release(std::uint64_t lock, Release give_back) noexcept {
  recorded_thread* const thread = this_thread();
  if (__builtin_expect(thread == nullptr, 0)) {
    static_cast<void>(real());
    return give_back();
  }
  note_release(*thread, lock);
  const int result = give_back();
  if (__builtin_expect(thread->sampling, 0)) {
    end_sample(*thread, lock, recording::sample_end::released);
    step_on(*thread);
  }
  return result;
}

/// Waits for a condition: gives the mutex back and takes it again.
template <class Wait>
int wait_for_condition(std::uint64_t mutex, std::uint64_t site, Wait wait) noexcept {
  recorded_thread* const thread = this_thread();
  if (thread == nullptr) return wait();
  note_release(*thread, mutex);
  end_sample(*thread, mutex, recording::sample_end::waited);
  const std::uint64_t from = ticks();
  const int result = wait();
  const bool owned = result == 0 || result == ETIMEDOUT || result == EOWNERDEAD;
  note_attempt(*thread, mutex, site, lock_kind::condition,
               {owned ? 0 : result, false, false, ticks() - from});
  if (thread->sampling) step_on(*thread);
  return result;
}

}  // namespace

UNLATCH_EXPORTED int pthread_mutex_lock(pthread_mutex_t* mutex) {
  return acquire(
      address(mutex), lock_kind::mutex, UNLATCH_CALL_SITE,
      [mutex] { return found_functions.mutex_trylock(mutex); },
      [mutex] { return real().mutex_lock(mutex); });
}

UNLATCH_EXPORTED int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  return try_to_acquire(address(mutex), lock_kind::mutex, UNLATCH_CALL_SITE,
                        [mutex] { return found_functions.mutex_trylock(mutex); });
}

UNLATCH_EXPORTED int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  return acquire(
      address(mutex), lock_kind::mutex, UNLATCH_CALL_SITE,
      [mutex] { return found_functions.mutex_trylock(mutex); },
      [=] { return real().mutex_timedlock(mutex, until); });
}

UNLATCH_EXPORTED int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                             const timespec* until) {
  return acquire(
      address(mutex), lock_kind::mutex, UNLATCH_CALL_SITE,
      [mutex] { return found_functions.mutex_trylock(mutex); },
      [=] { return real().mutex_clocklock(mutex, clock, until); });
}

UNLATCH_EXPORTED int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  return release(address(mutex), [mutex] { return found_functions.mutex_unlock(mutex); });
}

UNLATCH_EXPORTED int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  return acquire(
      address(lock), lock_kind::read, UNLATCH_CALL_SITE,
      [lock] { return found_functions.tryrdlock(lock); }, [lock] { return real().rdlock(lock); });
}

UNLATCH_EXPORTED int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  return try_to_acquire(address(lock), lock_kind::read, UNLATCH_CALL_SITE,
                        [lock] { return found_functions.tryrdlock(lock); });
}

UNLATCH_EXPORTED int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  return acquire(
      address(lock), lock_kind::read, UNLATCH_CALL_SITE,
      [lock] { return found_functions.tryrdlock(lock); },
      [=] { return real().timedrdlock(lock, until); });
}

UNLATCH_EXPORTED int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* until) {
  return acquire(
      address(lock), lock_kind::read, UNLATCH_CALL_SITE,
      [lock] { return found_functions.tryrdlock(lock); },
      [=] { return real().clockrdlock(lock, clock, until); });
}

UNLATCH_EXPORTED int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  return acquire(
      address(lock), lock_kind::write, UNLATCH_CALL_SITE,
      [lock] { return found_functions.trywrlock(lock); }, [lock] { return real().wrlock(lock); });
}

UNLATCH_EXPORTED int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  return try_to_acquire(address(lock), lock_kind::write, UNLATCH_CALL_SITE,
                        [lock] { return found_functions.trywrlock(lock); });
}

UNLATCH_EXPORTED int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  return acquire(
      address(lock), lock_kind::write, UNLATCH_CALL_SITE,
      [lock] { return found_functions.trywrlock(lock); },
      [=] { return real().timedwrlock(lock, until); });
}

UNLATCH_EXPORTED int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                const timespec* until) {
  return acquire(
      address(lock), lock_kind::write, UNLATCH_CALL_SITE,
      [lock] { return found_functions.trywrlock(lock); },
      [=] { return real().clockwrlock(lock, clock, until); });
}

UNLATCH_EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  return release(address(lock), [lock] { return found_functions.rwlock_unlock(lock); });
}

UNLATCH_EXPORTED int pthread_spin_lock(pthread_spinlock_t* lock) {
  return acquire(
      address(lock), lock_kind::spin, UNLATCH_CALL_SITE,
      [lock] { return found_functions.spin_trylock(lock); },
      [lock] { return real().spin_lock(lock); });
}

UNLATCH_EXPORTED int pthread_spin_trylock(pthread_spinlock_t* lock) {
  return try_to_acquire(address(lock), lock_kind::spin, UNLATCH_CALL_SITE,
                        [lock] { return found_functions.spin_trylock(lock); });
}

UNLATCH_EXPORTED int pthread_spin_unlock(pthread_spinlock_t* lock) {
  return release(address(lock), [lock] { return found_functions.spin_unlock(lock); });
}

UNLATCH_EXPORTED int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return wait_for_condition(address(mutex), UNLATCH_CALL_SITE,
                            [=] { return real().cond_wait(condition, mutex); });
}

UNLATCH_EXPORTED int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                            const timespec* until) {
  return wait_for_condition(address(mutex), UNLATCH_CALL_SITE,
                            [=] { return real().cond_timedwait(condition, mutex, until); });
}

UNLATCH_EXPORTED int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                            clockid_t clock, const timespec* until) {
  return wait_for_condition(address(mutex), UNLATCH_CALL_SITE,
                            [=] { return real().cond_clockwait(condition, mutex, clock, until); });
}

UNLATCH_EXPORTED int sigaction(int number, const struct sigaction* to, struct sigaction* before) {
  return change_program_handler(real().sigaction, number, to, before);
}

UNLATCH_EXPORTED sighandler_t signal(int number, sighandler_t handler) {
  struct sigaction to = {}, before = {};
  to.sa_handler = handler;
  to.sa_flags = SA_RESTART;
  return sigaction(number, &to, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace unlatch::probe::recorder
