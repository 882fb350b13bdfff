// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/real_functions.hpp"

#include <dlfcn.h>

namespace unlatch::probe::recorder {

real_functions found_functions;

namespace {

real_functions& found = found_functions;
bool all_found;
/// The look-up itself may allocate, and an allocator may take a mutex.
thread_local bool looking_up;

template <class Function>
void look_up(Function& into, const char* name, const char* version = nullptr) noexcept {
  void* at = version == nullptr ? nullptr : dlvsym(RTLD_NEXT, name, version);
  if (at == nullptr) at = dlsym(RTLD_NEXT, name);
  __atomic_store_n(&into, reinterpret_cast<Function>(at), __ATOMIC_RELAXED);
}

/// Several threads may do this at once: all find the same.
void look_all_up() noexcept {
  look_up(found.mutex_lock, "pthread_mutex_lock");
  look_up(found.mutex_trylock, "pthread_mutex_trylock");
  look_up(found.mutex_timedlock, "pthread_mutex_timedlock");
  look_up(found.mutex_clocklock, "pthread_mutex_clocklock");
  look_up(found.mutex_unlock, "pthread_mutex_unlock");
  look_up(found.rdlock, "pthread_rwlock_rdlock");
  look_up(found.tryrdlock, "pthread_rwlock_tryrdlock");
  look_up(found.timedrdlock, "pthread_rwlock_timedrdlock");
  look_up(found.clockrdlock, "pthread_rwlock_clockrdlock");
  look_up(found.wrlock, "pthread_rwlock_wrlock");
  look_up(found.trywrlock, "pthread_rwlock_trywrlock");
  look_up(found.timedwrlock, "pthread_rwlock_timedwrlock");
  look_up(found.clockwrlock, "pthread_rwlock_clockwrlock");
  look_up(found.rwlock_unlock, "pthread_rwlock_unlock");
  look_up(found.spin_lock, "pthread_spin_lock");
  look_up(found.spin_trylock, "pthread_spin_trylock");
  look_up(found.spin_unlock, "pthread_spin_unlock");
  // Without a version, the dynamic linker may give the conditions of glibc before 2.3.2.
  look_up(found.cond_wait, "pthread_cond_wait", "GLIBC_2.3.2");
  look_up(found.cond_timedwait, "pthread_cond_timedwait", "GLIBC_2.3.2");
  look_up(found.cond_clockwait, "pthread_cond_clockwait");
  look_up(found.sigaction, "sigaction");
  __atomic_store_n(&all_found, true, __ATOMIC_RELEASE);
}

}  // namespace

const real_functions& real() noexcept {
  if (__builtin_expect(!__atomic_load_n(&all_found, __ATOMIC_ACQUIRE), 0) && !looking_up) {
    looking_up = true;
    look_all_up();
    looking_up = false;
  }
  return found;
}

}  // namespace unlatch::probe::recorder
