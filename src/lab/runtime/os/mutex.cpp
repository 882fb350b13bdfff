// SPDX-License-Identifier: Apache-2.0
//
// POSIX mutexes as glibc makes them: the same words, in the program's memory, in the same order of
// accesses; so they cost, conflict and abort transactions as on the machine.
//
//   word      0 free, 1 locked, 2 locked and somebody may wait in the kernel
//   owner     number of the thread, plus 1, or 0
//   users     1 while locked
//
// A lock that is free and a mutex that the host has initialized look the same to glibc, so a mutex
// may be used before, in and after a run, if it is free in between. Priorities and robustness are
// ignored.
#include "lab/runtime/os/mutex.hpp"

#include <cerrno>
#include <ctime>

#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

namespace unlatch::lab::os::mutexes {
namespace {

int owner_number() noexcept { return static_cast<int>(current_thread().number) + 1; }

futex_word word_of(pthread_mutex_t& mutex) noexcept { return futex_word(&mutex.__data.__lock); }

int kind_of(const pthread_mutex_t& mutex) noexcept { return read(mutex.__data.__kind) & 3; }

int sleep_for(pthread_mutex_t& mutex, cycles deadline) noexcept {
  const futex_word word = word_of(mutex);
  const waiting_for reason(reason::mutex, &mutex);
  bool sleep_first = word.load() == 2;
  while (sleep_first || word.exchange(2) != 0) {
    sleep_first = false;
    if (futex::wait(word.address(), 2, deadline) == ETIMEDOUT) return ETIMEDOUT;
  }
  return 0;
}

void become_owner(pthread_mutex_t& mutex, int me) noexcept {
  write(mutex.__data.__owner, me);
  write(mutex.__data.__nusers, read(mutex.__data.__nusers) + 1);
}

void release(pthread_mutex_t& mutex) noexcept {
  write(mutex.__data.__owner, 0);
  write(mutex.__data.__nusers, read(mutex.__data.__nusers) - 1);
  const futex_word word = word_of(mutex);
  if (word.exchange(0) > 1) futex::wake(word.address(), 1);
}

/// What the mutex's kind says if this thread may be its owner already: 0 to go on and lock it,
/// EDEADLK, or -1 for "locked once more".
int relock(pthread_mutex_t& mutex, int kind, int me) noexcept {
  if (kind != PTHREAD_MUTEX_RECURSIVE_NP && kind != PTHREAD_MUTEX_ERRORCHECK_NP) return 0;
  if (read(mutex.__data.__owner) != me) return 0;
  if (kind == PTHREAD_MUTEX_ERRORCHECK_NP) return EDEADLK;
  write(mutex.__data.__count, read(mutex.__data.__count) + 1);
  return -1;
}

}  // namespace

int lock(pthread_mutex_t& mutex, cycles deadline) noexcept {
  const int me = owner_number();
  const int kind = kind_of(mutex);
  if (const int answer = relock(mutex, kind, me)) return answer < 0 ? 0 : answer;
  if (!word_of(mutex).compare_exchange(0, 1)) {
    if (const int error = sleep_for(mutex, deadline)) return error;
  }
  if (kind == PTHREAD_MUTEX_RECURSIVE_NP) write(mutex.__data.__count, 1u);
  become_owner(mutex, me);
  return 0;
}

int try_lock(pthread_mutex_t& mutex) noexcept {
  const int me = owner_number();
  const int kind = kind_of(mutex);
  if (const int answer = relock(mutex, kind, me)) return answer < 0 ? 0 : EBUSY;
  if (!word_of(mutex).compare_exchange(0, 1)) return EBUSY;
  if (kind == PTHREAD_MUTEX_RECURSIVE_NP) write(mutex.__data.__count, 1u);
  become_owner(mutex, me);
  return 0;
}

int unlock(pthread_mutex_t& mutex) noexcept {
  const int kind = kind_of(mutex);
  if (kind == PTHREAD_MUTEX_RECURSIVE_NP || kind == PTHREAD_MUTEX_ERRORCHECK_NP) {
    if (read(mutex.__data.__owner) != owner_number()) return EPERM;
  }
  if (kind == PTHREAD_MUTEX_RECURSIVE_NP) {
    const unsigned count = read(mutex.__data.__count) - 1;
    write(mutex.__data.__count, count);
    if (count != 0) return 0;
  }
  release(mutex);
  return 0;
}

int unlock_to_wait(pthread_mutex_t& mutex, unsigned& count) noexcept {
  const int kind = kind_of(mutex);
  count = 0;
  if (kind == PTHREAD_MUTEX_RECURSIVE_NP || kind == PTHREAD_MUTEX_ERRORCHECK_NP) {
    if (read(mutex.__data.__owner) != owner_number()) return EPERM;
  }
  if (kind == PTHREAD_MUTEX_RECURSIVE_NP) {
    count = read(mutex.__data.__count);
    write(mutex.__data.__count, 0u);
  }
  release(mutex);
  return 0;
}

void lock_after_wait(pthread_mutex_t& mutex, unsigned count) noexcept {
  const futex_word word = word_of(mutex);
  const waiting_for reason(reason::mutex, &mutex);
  while (word.exchange(2) != 0) futex::wait(word.address(), 2);
  if (count != 0) write(mutex.__data.__count, count);
  become_owner(mutex, owner_number());
}

}  // namespace unlatch::lab::os::mutexes

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

UNLATCH_LAB_INTERPOSE int pthread_mutex_init(pthread_mutex_t* mutex,
                                             const pthread_mutexattr_t* attributes) noexcept {
  if (!host_mode()) will_write(mutex, sizeof *mutex);
  return UNLATCH_LAB_HOST(pthread_mutex_init)(mutex, attributes);
}

UNLATCH_LAB_INTERPOSE int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  if (!host_mode()) {
    if (read(mutex->__data.__nusers) != 0) return EBUSY;
    will_write(&mutex->__data.__kind, sizeof mutex->__data.__kind);
  }
  return UNLATCH_LAB_HOST(pthread_mutex_destroy)(mutex);
}

UNLATCH_LAB_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_mutex_lock)(mutex);
  return mutexes::lock(*mutex, futex::never);
}

UNLATCH_LAB_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_mutex_trylock)(mutex);
  return mutexes::try_lock(*mutex);
}

UNLATCH_LAB_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* __restrict mutex,
                                                  const timespec* __restrict until) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_mutex_timedlock)(mutex, until);
  return mutexes::lock(*mutex, deadline_at(CLOCK_REALTIME, read(*until)));
}

UNLATCH_LAB_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* __restrict mutex,
                                                  clockid_t clock,
                                                  const timespec* __restrict until) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_mutex_clocklock)(mutex, clock, until);
  return mutexes::lock(*mutex, deadline_at(clock, read(*until)));
}

UNLATCH_LAB_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_mutex_unlock)(mutex);
  return mutexes::unlock(*mutex);
}
