// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "run_subject.hpp"

namespace unlatch::probe::testing {
namespace {

/// A mutex with attributes.
class kind_of_mutex {
 public:
  template <class Set, class Value>
  kind_of_mutex(Set set, Value value, pthread_mutex_t* at = nullptr) : mutex_(at ? at : &own_) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    set(&attributes, value);
    pthread_mutex_init(mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  kind_of_mutex(const kind_of_mutex&) = delete;
  kind_of_mutex& operator=(const kind_of_mutex&) = delete;

  pthread_mutex_t* get() { return mutex_; }
  bool lock() { return pthread_mutex_lock(mutex_) == 0; }
  bool unlock() { return pthread_mutex_unlock(mutex_) == 0; }
  bool destroy() { return pthread_mutex_destroy(mutex_) == 0; }

 private:
  pthread_mutex_t own_;
  pthread_mutex_t* mutex_;
};

bool excludes(kind_of_mutex& mutex) {
  account money;
  run_threads(threads, [&](int) {
    for (long i = 0; i < rounds; ++i) {
      mutex.lock();
      money.change();
      mutex.unlock();
    }
  });
  return CHECK(money.has(threads * rounds));
}

bool recursive() {
  kind_of_mutex mutex(pthread_mutexattr_settype, PTHREAD_MUTEX_RECURSIVE);
  account money;
  run_threads(threads, [&](int) {
    for (long i = 0; i < rounds; ++i) {
      mutex.lock();
      money.change();
      mutex.lock();
      money.change();
      if (pthread_mutex_trylock(mutex.get()) == 0) {
        money.change();
        mutex.unlock();
      }
      mutex.unlock();
      mutex.unlock();
    }
  });
  bool kept = CHECK(money.has(3 * threads * rounds));
  mutex.lock();
  mutex.lock();
  mutex.unlock();
  std::thread([&] { kept &= CHECK(pthread_mutex_trylock(mutex.get()) == EBUSY); }).join();
  std::thread([&] { kept &= CHECK(pthread_mutex_unlock(mutex.get()) == EPERM); }).join();
  mutex.unlock();
  std::thread([&] { kept &= CHECK(mutex.lock()) && CHECK(mutex.unlock()); }).join();
  return kept && CHECK(pthread_mutex_unlock(mutex.get()) == EPERM) && CHECK(mutex.destroy());
}

bool error_checking() {
  kind_of_mutex mutex(pthread_mutexattr_settype, PTHREAD_MUTEX_ERRORCHECK);
  if (!excludes(mutex)) return false;
  bool kept = CHECK(pthread_mutex_unlock(mutex.get()) == EPERM);
  long refused = 0;
  for (long i = 0; i < rounds; ++i) {
    mutex.lock();
    if (pthread_mutex_lock(mutex.get()) == EDEADLK)
      ++refused;
    else
      mutex.unlock();
    mutex.unlock();
  }
  kept &= CHECK(refused == rounds);
  mutex.lock();
  kept &= CHECK(pthread_mutex_lock(mutex.get()) == EDEADLK);
  kept &= CHECK(pthread_mutex_trylock(mutex.get()) == EBUSY);
  const timespec soon = in_milliseconds(CLOCK_REALTIME, 20);
  kept &= CHECK(pthread_mutex_timedlock(mutex.get(), &soon) == EDEADLK);
  std::thread([&] { kept &= CHECK(pthread_mutex_unlock(mutex.get()) == EPERM); }).join();
  return kept && CHECK(mutex.unlock()) && CHECK(mutex.destroy());
}

bool adaptive() {
  kind_of_mutex mutex(pthread_mutexattr_settype, PTHREAD_MUTEX_ADAPTIVE_NP);
  return excludes(mutex) && CHECK(mutex.destroy());
}

bool explicitly_normal() {
  kind_of_mutex mutex(pthread_mutexattr_settype, PTHREAD_MUTEX_NORMAL);
  return excludes(mutex) && CHECK(mutex.destroy());
}

bool robust() {
  kind_of_mutex mutex(pthread_mutexattr_setrobust, PTHREAD_MUTEX_ROBUST);
  if (!excludes(mutex)) return false;
  std::thread([&] { mutex.lock(); }).join();
  return CHECK(pthread_mutex_lock(mutex.get()) == EOWNERDEAD) &&
         CHECK(pthread_mutex_consistent(mutex.get()) == 0) && CHECK(mutex.unlock()) &&
         CHECK(mutex.destroy());
}

bool priority_inheriting() {
  kind_of_mutex mutex(pthread_mutexattr_setprotocol, PTHREAD_PRIO_INHERIT);
  return excludes(mutex) && CHECK(mutex.destroy());
}

/// Between a process and its child.
bool process_shared() {
  struct shared_memory {
    pthread_mutex_t mutex;
    account money;
  };
  void* const memory = mmap(nullptr, sizeof(shared_memory), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const shared = new (memory) shared_memory;
  kind_of_mutex mutex(pthread_mutexattr_setpshared, PTHREAD_PROCESS_SHARED, &shared->mutex);
  const auto work = [&] {
    for (long i = 0; i < rounds; ++i) {
      mutex.lock();
      shared->money.change();
      mutex.unlock();
    }
  };
  const pid_t child = fork();
  work();
  if (child == 0) _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  return CHECK(status == 0) && CHECK(shared->money.has(2 * rounds)) && CHECK(mutex.destroy());
}

}  // namespace

run_cases mutex_kind_cases() {
  return {{"recursive", recursive},
          {"error_checking", error_checking},
          {"adaptive", adaptive},
          {"explicitly_normal", explicitly_normal},
          {"robust", robust},
          {"priority_inheriting", priority_inheriting},
          {"process_shared", process_shared}};
}

}  // namespace unlatch::probe::testing
