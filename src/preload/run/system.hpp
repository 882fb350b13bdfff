// SPDX-License-Identifier: Apache-2.0
//
// The system's own lock functions, which the object stands in front of, and the calling thread's
// number as the system's locks write it down.
//
// Thread safety: any thread, at any time: also before this object's constructor has run.
#pragma once

#include <pthread.h>
#include <time.h>

namespace unlatch::preload {

struct system_functions {
  int (*mutex_init)(pthread_mutex_t*, const pthread_mutexattr_t*);
  int (*mutex_destroy)(pthread_mutex_t*);
  int (*mutex_lock)(pthread_mutex_t*);
  int (*mutex_trylock)(pthread_mutex_t*);
  int (*mutex_timedlock)(pthread_mutex_t*, const timespec*);
  int (*mutex_clocklock)(pthread_mutex_t*, clockid_t, const timespec*);
  int (*mutex_unlock)(pthread_mutex_t*);
  int (*cond_wait)(pthread_cond_t*, pthread_mutex_t*);
  int (*cond_timedwait)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  int (*cond_clockwait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  int (*rwlock_init)(pthread_rwlock_t*, const pthread_rwlockattr_t*);
  int (*rwlock_rdlock)(pthread_rwlock_t*);
  int (*rwlock_tryrdlock)(pthread_rwlock_t*);
  int (*rwlock_timedrdlock)(pthread_rwlock_t*, const timespec*);
  int (*rwlock_clockrdlock)(pthread_rwlock_t*, clockid_t, const timespec*);
  int (*rwlock_wrlock)(pthread_rwlock_t*);
  int (*rwlock_trywrlock)(pthread_rwlock_t*);
  int (*rwlock_timedwrlock)(pthread_rwlock_t*, const timespec*);
  int (*rwlock_clockwrlock)(pthread_rwlock_t*, clockid_t, const timespec*);
  int (*rwlock_unlock)(pthread_rwlock_t*);
};

/// Filled by find_system_functions().
extern system_functions system;

/// Looks them up. Those that this C library does not have stay null: no program calls them. Any
/// number of times, by threads at the same time: all write the same.
void find_system_functions() noexcept;

/// The calling thread's number, as gettid() has it. A system call the first time.
int this_thread_id() noexcept;
/// Must be called in a child of fork(): its thread has another number.
void forget_thread_id() noexcept;

/// A line on standard error, once a process and only if something is wrong.
void complain(const char* text) noexcept;

}  // namespace unlatch::preload
