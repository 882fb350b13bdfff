// SPDX-License-Identifier: Apache-2.0
//
// POSIX semaphores, with glibc's words: the value, and beside it the number of waiters.
#include <semaphore.h>

#include <cerrno>
#include <ctime>

#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

futex_word value_of(sem_t& semaphore) noexcept { return futex_word(&semaphore); }
futex_word waiters_of(sem_t& semaphore) noexcept {
  return futex_word(reinterpret_cast<std::uint32_t*>(&semaphore) + 1);
}

bool try_take(sem_t& semaphore) noexcept {
  const futex_word value = value_of(semaphore);
  for (;;) {
    const std::uint32_t seen = value.load();
    if (seen == 0) return false;
    if (value.compare_exchange(seen, seen - 1)) return true;
  }
}

int fail(int error) noexcept {
  errno = error;
  return -1;
}

int take(sem_t& semaphore, cycles deadline) noexcept {
  if (try_take(semaphore)) return 0;
  leave_transaction();
  const waiting_for reason(reason::semaphore, &semaphore);
  int error = 0;
  waiters_of(semaphore).fetch_add(1);
  while (error != ETIMEDOUT && !try_take(semaphore)) {
    error = futex::wait(value_of(semaphore).address(), 0, deadline);
  }
  waiters_of(semaphore).fetch_add(~0u);
  return error == ETIMEDOUT ? fail(ETIMEDOUT) : 0;
}

}  // namespace

UNLATCH_LAB_INTERPOSE int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  if (!host_mode()) will_write(semaphore, sizeof *semaphore);
  return UNLATCH_LAB_HOST(sem_init)(semaphore, shared, value);
}

UNLATCH_LAB_INTERPOSE int sem_wait(sem_t* semaphore) {
  if (host_mode()) return UNLATCH_LAB_HOST(sem_wait)(semaphore);
  return take(*semaphore, futex::never);
}

UNLATCH_LAB_INTERPOSE int sem_trywait(sem_t* semaphore) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(sem_trywait)(semaphore);
  return try_take(*semaphore) ? 0 : fail(EAGAIN);
}

UNLATCH_LAB_INTERPOSE int sem_timedwait(sem_t* __restrict semaphore,
                                        const timespec* __restrict until) {
  if (host_mode()) return UNLATCH_LAB_HOST(sem_timedwait)(semaphore, until);
  return take(*semaphore, deadline_at(CLOCK_REALTIME, read(*until)));
}

UNLATCH_LAB_INTERPOSE int sem_clockwait(sem_t* __restrict semaphore, clockid_t clock,
                                        const timespec* __restrict until) {
  if (host_mode()) return UNLATCH_LAB_HOST(sem_clockwait)(semaphore, clock, until);
  return take(*semaphore, deadline_at(clock, read(*until)));
}

UNLATCH_LAB_INTERPOSE int sem_post(sem_t* semaphore) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(sem_post)(semaphore);
  const futex_word value = value_of(*semaphore);
  value.fetch_add(1);
  if (waiters_of(*semaphore).load() != 0) futex::wake(value.address(), 1);
  return 0;
}

UNLATCH_LAB_INTERPOSE int sem_getvalue(sem_t* __restrict semaphore,
                                       int* __restrict result) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(sem_getvalue)(semaphore, result);
  write(*result, static_cast<int>(value_of(*semaphore).load()));
  return 0;
}
