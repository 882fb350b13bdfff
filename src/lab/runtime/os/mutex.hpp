// SPDX-License-Identifier: Apache-2.0
//
// POSIX mutexes, for what else has to lock them (condition variables).
#pragma once

#include <pthread.h>

#include "lab/runtime/scheduler.hpp"

namespace unlatch::lab::os::mutexes {

/// 0, or an error as pthread_mutex_timedlock() gives.
int lock(pthread_mutex_t& mutex, cycles deadline) noexcept;
int unlock(pthread_mutex_t& mutex) noexcept;

/// Gives up a mutex to wait on a condition variable, and takes it again: a recursive mutex keeps
/// its count. Taking it says that there may be more waiters, as glibc does.
int unlock_to_wait(pthread_mutex_t& mutex, unsigned& count) noexcept;
void lock_after_wait(pthread_mutex_t& mutex, unsigned count) noexcept;

}  // namespace unlatch::lab::os::mutexes
