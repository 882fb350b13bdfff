// SPDX-License-Identifier: Apache-2.0
#include "src/preload/run/modes.hpp"
#include "src/preload/run/system.hpp"

namespace unlatch::preload {

int system_lock(pthread_mutex_t& mutex, deadline until) noexcept {
  if (until.time == nullptr) [[likely]]
    return system.mutex_lock(&mutex);
  if (until.clock == CLOCK_REALTIME) return system.mutex_timedlock(&mutex, until.time);
  return system.mutex_clocklock(&mutex, until.clock, until.time);
}

int system_lock(pthread_rwlock_t& lock, deadline until) noexcept {
  if (until.time == nullptr) [[likely]]
    return system.rwlock_wrlock(&lock);
  if (until.clock == CLOCK_REALTIME) return system.rwlock_timedwrlock(&lock, until.time);
  return system.rwlock_clockwrlock(&lock, until.clock, until.time);
}

int system_lock_shared(pthread_rwlock_t& lock, deadline until) noexcept {
  if (until.time == nullptr) [[likely]]
    return system.rwlock_rdlock(&lock);
  if (until.clock == CLOCK_REALTIME) return system.rwlock_timedrdlock(&lock, until.time);
  return system.rwlock_clockrdlock(&lock, until.clock, until.time);
}

int system_wait(pthread_cond_t& condition, pthread_mutex_t& mutex, deadline until) {
  if (until.time == nullptr) [[likely]]
    return system.cond_wait(&condition, &mutex);
  if (until.clock == own_clock) return system.cond_timedwait(&condition, &mutex, until.time);
  return system.cond_clockwait(&condition, &mutex, until.clock, until.time);
}

}  // namespace unlatch::preload
