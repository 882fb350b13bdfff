// SPDX-License-Identifier: Apache-2.0
//
// POSIX reader-writer locks. Readers go first, as with glibc's default kind.
//
//   __readers   bit 0 belongs to glibc (its phase); bit 1: a writer holds it; above: readers, by 8
//   __writers   threads that sleep or are about to, of both kinds; 0 when nobody holds it
//
// A lock that is free looks the same to glibc and to us.
#include <pthread.h>

#include <cerrno>
#include <ctime>

#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint32_t written = 2;
constexpr std::uint32_t one_reader = 8;

futex_word holders(pthread_rwlock_t& lock) noexcept { return futex_word(&lock.__data.__readers); }
futex_word sleepers(pthread_rwlock_t& lock) noexcept { return futex_word(&lock.__data.__writers); }

/// Takes the lock if it is free for this: EBUSY if not, with what was seen.
int try_take(pthread_rwlock_t& lock, bool to_write, std::uint32_t& seen) noexcept {
  const futex_word word = holders(lock);
  for (;;) {
    seen = word.load();
    const bool taken = to_write ? seen >= written : (seen & written) != 0;
    if (taken) return EBUSY;
    if (word.compare_exchange(seen, seen + (to_write ? written : one_reader))) break;
  }
  if (to_write) {
    write(lock.__data.__cur_writer, static_cast<int>(current_thread().number) + 1);
  }
  return 0;
}

int take(pthread_rwlock_t& lock, bool to_write, cycles deadline) noexcept {
  std::uint32_t seen;
  if (try_take(lock, to_write, seen) == 0) return 0;
  if ((seen & written) != 0 &&
      read(lock.__data.__cur_writer) == static_cast<int>(current_thread().number) + 1) {
    return EDEADLK;
  }
  leave_transaction();
  const waiting_for reason(to_write ? reason::lock_to_write : reason::lock_to_read, &lock);
  int error = 0;
  sleepers(lock).fetch_add(1);
  while (error != ETIMEDOUT && try_take(lock, to_write, seen) != 0) {
    error = futex::wait(holders(lock).address(), seen, deadline);
  }
  sleepers(lock).fetch_add(~0u);
  return error == ETIMEDOUT ? ETIMEDOUT : 0;
}

int give(pthread_rwlock_t& lock) noexcept {
  const futex_word word = holders(lock);
  const std::uint32_t before = word.load();
  std::uint32_t after;
  if ((before & written) != 0) {
    write(lock.__data.__cur_writer, 0);
    after = word.fetch_add(0u - written) - written;
  } else {
    after = word.fetch_add(0u - one_reader) - one_reader;
  }
  if (after < written && sleepers(lock).load() != 0) {
    futex::wake(word.address(), futex::everybody);
  }
  return 0;
}

int try_once(pthread_rwlock_t& lock, bool to_write) noexcept {
  std::uint32_t seen;
  return try_take(lock, to_write, seen);
}

}  // namespace

UNLATCH_LAB_INTERPOSE int pthread_rwlock_init(pthread_rwlock_t* __restrict lock,
                                              const pthread_rwlockattr_t* __restrict how) noexcept {
  if (!host_mode()) will_write(lock, sizeof *lock);
  return UNLATCH_LAB_HOST(pthread_rwlock_init)(lock, how);
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_rdlock)(lock);
  return take(*lock, false, futex::never);
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_tryrdlock)(lock);
  return try_once(*lock, false);
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* __restrict lock,
                                                     const timespec* __restrict until) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_timedrdlock)(lock, until);
  return take(*lock, false, deadline_at(CLOCK_REALTIME, read(*until)));
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* __restrict lock,
                                                     clockid_t clock,
                                                     const timespec* __restrict until) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_clockrdlock)(lock, clock, until);
  return take(*lock, false, deadline_at(clock, read(*until)));
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_wrlock)(lock);
  return take(*lock, true, futex::never);
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_trywrlock)(lock);
  return try_once(*lock, true);
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* __restrict lock,
                                                     const timespec* __restrict until) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_timedwrlock)(lock, until);
  return take(*lock, true, deadline_at(CLOCK_REALTIME, read(*until)));
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* __restrict lock,
                                                     clockid_t clock,
                                                     const timespec* __restrict until) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_clockwrlock)(lock, clock, until);
  return take(*lock, true, deadline_at(clock, read(*until)));
}

UNLATCH_LAB_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_rwlock_unlock)(lock);
  return give(*lock);
}
