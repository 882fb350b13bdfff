/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/uncontended/ck_locks.h"

#include <ck_spinlock.h>

/* Keeps the compiler from knowing that nobody else sees the lock. */
#define SHOW(lock) __asm__ volatile("" : : "r"(lock) : "memory")

void ck_spinlock_repeat(uint64_t* counter, uint64_t times) {
  ck_spinlock_t lock __attribute__((aligned(64)));
  ck_spinlock_init(&lock);
  SHOW(&lock);
  for (; times != 0; --times) {
    ck_spinlock_lock(&lock);
    ++*counter;
    ck_spinlock_unlock(&lock);
  }
}

void ck_ticket_repeat(uint64_t* counter, uint64_t times) {
  ck_spinlock_ticket_t lock __attribute__((aligned(64)));
  ck_spinlock_ticket_init(&lock);
  SHOW(&lock);
  for (; times != 0; --times) {
    ck_spinlock_ticket_lock(&lock);
    ++*counter;
    ck_spinlock_ticket_unlock(&lock);
  }
}

void ck_mcs_repeat(uint64_t* counter, uint64_t times) {
  ck_spinlock_mcs_t lock __attribute__((aligned(64))) = NULL;
  struct ck_spinlock_mcs node __attribute__((aligned(64)));
  SHOW(&lock);
  for (; times != 0; --times) {
    ck_spinlock_mcs_lock(&lock, &node);
    ++*counter;
    ck_spinlock_mcs_unlock(&lock, &node);
  }
}
