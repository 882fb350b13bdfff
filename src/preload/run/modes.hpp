// SPDX-License-Identifier: Apache-2.0
//
// What the object does with the locks of its process: a table of functions, chosen once.
#pragma once

#include <pthread.h>
#include <time.h>

#include <string_view>

#include "src/probe/lock_run_area.hpp"

namespace unlatch::preload {

/// The clock that a condition variable was made for.
inline constexpr clockid_t own_clock = -1;

/// Until when to wait; no `time`: for ever.
struct deadline {
  clockid_t clock = CLOCK_REALTIME;
  const timespec* time = nullptr;
};

/// For mutexes that are served (layout.hpp). They return what the system's functions return.
/// `site` is where the program calls them.
struct mutex_mode {
  int (*lock)(pthread_mutex_t& mutex, deadline until, const void* site);
  int (*try_lock)(pthread_mutex_t& mutex, const void* site);
  int (*unlock)(pthread_mutex_t& mutex);
  int (*destroy)(pthread_mutex_t& mutex);
  int (*wait)(pthread_cond_t& condition, pthread_mutex_t& mutex, deadline until);
};

/// The same for reader-writer locks.
struct rwlock_mode {
  int (*lock)(pthread_rwlock_t& lock, deadline until, const void* site);
  int (*try_lock)(pthread_rwlock_t& lock, const void* site);
  int (*lock_shared)(pthread_rwlock_t& lock, deadline until, const void* site);
  int (*try_lock_shared)(pthread_rwlock_t& lock, const void* site);
  int (*unlock)(pthread_rwlock_t& lock);
};

/// Null where the locks stay the system's.
struct mode {
  const mutex_mode* mutexes = nullptr;
  const rwlock_mode* rwlocks = nullptr;
};

/// Sections run in transactions, as the policy of that name decides. No mode if there is none.
mode eliding_mode(std::string_view policy) noexcept;

/// Mutexes become locks of another algorithm.
mode swapped_mode(probe::lock_algorithm algorithm) noexcept;

/// Before the first swapped lock is taken.
void prepare_queue_nodes() noexcept;

/// In a child of fork(): the threads that waited for swapped locks do not exist here.
void swapped_locks_after_fork() noexcept;

// The system's functions with a deadline.
int system_lock(pthread_mutex_t& mutex, deadline until) noexcept;
int system_lock(pthread_rwlock_t& lock, deadline until) noexcept;
int system_lock_shared(pthread_rwlock_t& lock, deadline until) noexcept;
/// Not noexcept: a cancelled thread unwinds from here.
int system_wait(pthread_cond_t& condition, pthread_mutex_t& mutex, deadline until);

}  // namespace unlatch::preload
