// SPDX-License-Identifier: Apache-2.0
//
// POSIX barriers and spin locks.
//
// A barrier's first word counts those that have come, its third how many it waits for (glibc's
// layout); who waits is the kernel's queue. A barrier at rest looks the same to glibc and to us.
#include <pthread.h>

#include <cerrno>
#include <cstdint>

#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

UNLATCH_LAB_INTERPOSE int pthread_barrier_init(pthread_barrier_t* __restrict barrier,
                                               const pthread_barrierattr_t* __restrict how,
                                               unsigned count) noexcept {
  if (!host_mode()) will_write(barrier, sizeof *barrier);
  return UNLATCH_LAB_HOST(pthread_barrier_init)(barrier, how, count);
}

UNLATCH_LAB_INTERPOSE int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_barrier_destroy)(barrier);
  return 0;
}

UNLATCH_LAB_INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_barrier_wait)(barrier);
  auto* const words = reinterpret_cast<std::uint32_t*>(barrier);
  const futex_word arrived(words);
  const std::uint32_t expected = read(words[2]);
  const waiting_for reason(reason::barrier, barrier);
  scheduler::enter_kernel();
  if (arrived.fetch_add(1) + 1 < expected) {
    futex::sleep_on(barrier);
    return 0;
  }
  arrived.store(0);
  futex::wake_from_kernel(barrier, expected - 1);
  return PTHREAD_BARRIER_SERIAL_THREAD;
}

UNLATCH_LAB_INTERPOSE int pthread_spin_init(pthread_spinlock_t* lock, int shared) noexcept {
  if (!host_mode()) will_write(const_cast<int*>(lock), sizeof *lock);
  return UNLATCH_LAB_HOST(pthread_spin_init)(lock, shared);
}

UNLATCH_LAB_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_spin_lock)(lock);
  const futex_word word(const_cast<int*>(lock));
  while (word.exchange(1) != 0) {
    do {
      unlatch_lab_instruction(static_cast<std::uint32_t>(instruction::pause), access_cost);
    } while (word.load() != 0);
  }
  return 0;
}

UNLATCH_LAB_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_spin_trylock)(lock);
  return futex_word(const_cast<int*>(lock)).exchange(1) == 0 ? 0 : EBUSY;
}

UNLATCH_LAB_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(pthread_spin_unlock)(lock);
  futex_word(const_cast<int*>(lock)).store(0);
  return 0;
}
