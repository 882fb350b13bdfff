// SPDX-License-Identifier: Apache-2.0
//
// The functions that the preloaded profiler stands in front of.
//
// Thread safety: all functions may be called from any thread, also before any constructor has run.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace unlatch::probe::recorder {

struct real_functions {
  int (*mutex_lock)(pthread_mutex_t*);
  int (*mutex_trylock)(pthread_mutex_t*);
  int (*mutex_timedlock)(pthread_mutex_t*, const timespec*);
  int (*mutex_clocklock)(pthread_mutex_t*, clockid_t, const timespec*);
  int (*mutex_unlock)(pthread_mutex_t*);
  int (*rdlock)(pthread_rwlock_t*);
  int (*tryrdlock)(pthread_rwlock_t*);
  int (*timedrdlock)(pthread_rwlock_t*, const timespec*);
  int (*clockrdlock)(pthread_rwlock_t*, clockid_t, const timespec*);
  int (*wrlock)(pthread_rwlock_t*);
  int (*trywrlock)(pthread_rwlock_t*);
  int (*timedwrlock)(pthread_rwlock_t*, const timespec*);
  int (*clockwrlock)(pthread_rwlock_t*, clockid_t, const timespec*);
  int (*rwlock_unlock)(pthread_rwlock_t*);
  int (*spin_lock)(pthread_spinlock_t*);
  int (*spin_trylock)(pthread_spinlock_t*);
  int (*spin_unlock)(pthread_spinlock_t*);
  int (*cond_wait)(pthread_cond_t*, pthread_mutex_t*);
  int (*cond_timedwait)(pthread_cond_t*, pthread_mutex_t*, const timespec*);
  int (*cond_clockwait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  int (*sigaction)(int, const struct sigaction*, struct sigaction*);
};

/// What real() finds; there once a thread is recorded.
extern real_functions found_functions;

/// Looked up at the first call.
[[nodiscard]] const real_functions& real() noexcept;

}  // namespace unlatch::probe::recorder
