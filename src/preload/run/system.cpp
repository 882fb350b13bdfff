// SPDX-License-Identifier: Apache-2.0
#include "src/preload/run/system.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace unlatch::preload {

constinit system_functions system{};

namespace {

constinit thread_local int thread_id [[gnu::tls_model("initial-exec")]] = 0;

template <class Function>
void find(Function*& into, const char* name) noexcept {
  into = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Some functions of condition variables exist twice, and an unversioned look-up may find the one
/// that programs of before 2003 use.
template <class Function>
void find_second(Function*& into, const char* name) noexcept {
  into = reinterpret_cast<Function*>(dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"));
}

}  // namespace

void find_system_functions() noexcept {
  find(system.mutex_lock, "pthread_mutex_lock");
  find(system.mutex_trylock, "pthread_mutex_trylock");
  find(system.mutex_unlock, "pthread_mutex_unlock");
  find(system.mutex_init, "pthread_mutex_init");
  find(system.mutex_destroy, "pthread_mutex_destroy");
  find(system.mutex_timedlock, "pthread_mutex_timedlock");
  find(system.rwlock_init, "pthread_rwlock_init");
  find(system.rwlock_rdlock, "pthread_rwlock_rdlock");
  find(system.rwlock_tryrdlock, "pthread_rwlock_tryrdlock");
  find(system.rwlock_timedrdlock, "pthread_rwlock_timedrdlock");
  find(system.rwlock_wrlock, "pthread_rwlock_wrlock");
  find(system.rwlock_trywrlock, "pthread_rwlock_trywrlock");
  find(system.rwlock_timedwrlock, "pthread_rwlock_timedwrlock");
  find(system.rwlock_unlock, "pthread_rwlock_unlock");
  find_second(system.cond_wait, "pthread_cond_wait");
  find_second(system.cond_timedwait, "pthread_cond_timedwait");
  // The C library may lack these. Then the look-up allocates a message, for which the allocator may
  // take a mutex: the functions for that are there by now.
  find(system.mutex_clocklock, "pthread_mutex_clocklock");
  find(system.rwlock_clockrdlock, "pthread_rwlock_clockrdlock");
  find(system.rwlock_clockwrlock, "pthread_rwlock_clockwrlock");
  find(system.cond_clockwait, "pthread_cond_clockwait");
}

int this_thread_id() noexcept {
  if (thread_id == 0) [[unlikely]]
    thread_id = static_cast<int>(syscall(SYS_gettid));
  return thread_id;
}

void forget_thread_id() noexcept { thread_id = 0; }

void complain(const char* text) noexcept {
  const auto write_out = [](const char* part) {
    static_cast<void>(!write(STDERR_FILENO, part, std::strlen(part)));
  };
  write_out("unlatch run: ");
  write_out(text);
  write_out("\n");
}

}  // namespace unlatch::preload
