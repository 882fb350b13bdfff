// SPDX-License-Identifier: Apache-2.0
//
// Locks that are hot, contended, held for long, shared, waited on.
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "profile_subject.hpp"

// Variables whose names the tests look for.
pthread_mutex_t hot_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t cold_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t contended_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t brief_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t long_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t waiting_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t waiting_condition = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t table_latch = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t busy_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_spinlock_t spinning_lock;
std::mutex standard_mutex;
std::shared_mutex standard_shared_mutex;
std::condition_variable standard_condition;

namespace unlatch::probe::testing {
namespace {

long counted = 0;

[[gnu::noinline]] void take_hot() {
  pthread_mutex_lock(&hot_lock);
  ++counted;
  pthread_mutex_unlock(&hot_lock);
}

[[gnu::noinline]] void take_cold() {
  pthread_mutex_lock(&cold_lock);
  ++counted;
  pthread_mutex_unlock(&cold_lock);
}

bool takes_one_often() {
  for (int i = 0; i < 5000; ++i) take_hot();
  for (int i = 0; i < 7; ++i) take_cold();
  return counted == 5007;
}

/// The other thread begins to wait while this one holds the lock, every time.
bool meets() {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&contended_lock);
    std::thread other([] {
      pthread_mutex_lock(&contended_lock);
      pthread_mutex_unlock(&contended_lock);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pthread_mutex_unlock(&contended_lock);
    other.join();
  }
  return true;
}

bool holds_long() {
  for (int i = 0; i < 5; ++i) {
    pthread_mutex_lock(&long_lock);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pthread_mutex_unlock(&long_lock);
    pthread_mutex_lock(&brief_lock);
    pthread_mutex_unlock(&brief_lock);
  }
  return true;
}

bool waits() {
  bool ready = false;
  std::thread other([&ready] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    pthread_mutex_lock(&waiting_lock);
    ready = true;
    pthread_cond_signal(&waiting_condition);
    pthread_mutex_unlock(&waiting_lock);
  });
  pthread_mutex_lock(&waiting_lock);
  while (!ready) pthread_cond_wait(&waiting_condition, &waiting_lock);
  pthread_mutex_unlock(&waiting_lock);
  other.join();
  return ready;
}

bool shares() {
  for (int i = 0; i < 300; ++i) {
    pthread_rwlock_rdlock(&table_latch);
    pthread_rwlock_unlock(&table_latch);
  }
  for (int i = 0; i < 30; ++i) {
    pthread_rwlock_wrlock(&table_latch);
    pthread_rwlock_unlock(&table_latch);
  }
  return true;
}

bool tries() {
  pthread_mutex_lock(&busy_lock);
  int refused = 0;
  std::thread([&refused] {
    timespec past = {};
    for (int i = 0; i < 11; ++i) refused += pthread_mutex_trylock(&busy_lock) != 0;
    for (int i = 0; i < 3; ++i) refused += pthread_mutex_timedlock(&busy_lock, &past) != 0;
  }).join();
  pthread_mutex_unlock(&busy_lock);
  return refused == 14;
}

bool spins() {
  pthread_spin_init(&spinning_lock, PTHREAD_PROCESS_PRIVATE);
  for (int i = 0; i < 40; ++i) {
    pthread_spin_lock(&spinning_lock);
    pthread_spin_unlock(&spinning_lock);
  }
  return true;
}

bool uses_the_standard_library() {
  for (int i = 0; i < 60; ++i) const std::scoped_lock guard(standard_mutex);
  for (int i = 0; i < 50; ++i) const std::shared_lock guard(standard_shared_mutex);
  std::unique_lock guard(standard_mutex);
  standard_condition.wait_for(guard, std::chrono::milliseconds(1));
  return guard.owns_lock();
}

/// More locks than a block of the recording has rows for.
bool takes_many_locks() {
  struct bucket {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  };
  const auto buckets = std::make_unique<bucket[]>(1000);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) {
      pthread_mutex_lock(&buckets[i].lock);
      pthread_mutex_unlock(&buckets[i].lock);
    }
  }
  return true;
}

}  // namespace

profiled_cases lock_cases() {
  return {{"takes_one_often", takes_one_often},
          {"meets", meets},
          {"holds_long", holds_long},
          {"waits", waits},
          {"shares", shares},
          {"tries", tries},
          {"spins", spins},
          {"uses_the_standard_library", uses_the_standard_library},
          {"takes_many_locks", takes_many_locks}};
}

}  // namespace unlatch::probe::testing
