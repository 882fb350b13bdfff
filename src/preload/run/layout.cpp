// SPDX-License-Identifier: Apache-2.0
#include "src/preload/run/layout.hpp"

#include <cstddef>
#include <initializer_list>

#include "src/preload/run/system.hpp"

namespace unlatch::preload {
namespace {

static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0);
static_assert(offsetof(pthread_mutex_t, __data.__kind) == 16);
static_assert(offsetof(pthread_mutex_t, __data.__elision) == 22);
static_assert(offsetof(pthread_mutex_t, __data.__list) == 24 && sizeof(pthread_mutex_t) == 40);

// Flags in __kind.
constexpr int type_mask = 15;
constexpr int robust = 16;
constexpr int priority = 32 | 64;
constexpr int process_shared = 128;
constexpr int system_elided = 256;
constexpr int never_system_elided = 512;  // the type was set to PTHREAD_MUTEX_NORMAL

bool rest_is_zero(const pthread_mutex_t& mutex) noexcept {
  return mutex.__data.__elision == 0 && mutex.__data.__list.__prev == nullptr &&
         mutex.__data.__list.__next == nullptr;
}

class attributes {
 public:
  explicit attributes(int type) noexcept {
    pthread_mutexattr_init(&set_);
    pthread_mutexattr_settype(&set_, type);
  }
  attributes(const attributes&) = delete;
  attributes& operator=(const attributes&) = delete;
  ~attributes() { pthread_mutexattr_destroy(&set_); }
  pthread_mutexattr_t* operator->() noexcept { return &set_; }
  pthread_mutexattr_t* get() noexcept { return &set_; }

 private:
  pthread_mutexattr_t set_;
};

/// Held and free again, with every member as it should be on the way.
bool is_taken_as_expected(pthread_mutex_t& mutex, mutex_type type) noexcept {
  const bool recursive = type == mutex_type::recursive;
  bool expected =
      is_free(mutex) && rest_is_zero(mutex) && kind_of(mutex).served && kind_of(mutex).type == type;
  expected &= system.mutex_lock(&mutex) == 0;
  expected &= !is_free(mutex) && is_owned_by(mutex, this_thread_id()) && rest_is_zero(mutex) &&
              mutex.__data.__count == (recursive ? 1u : 0u);
  if (recursive) {
    expected &= system.mutex_lock(&mutex) == 0 && mutex.__data.__count == 2;
    expected &= system.mutex_unlock(&mutex) == 0 && !is_free(mutex);
  }
  expected &= system.mutex_unlock(&mutex) == 0;
  return expected && is_free(mutex) && is_owned_by(mutex, 0) && rest_is_zero(mutex) &&
         mutex.__data.__count == 0;
}

bool mutexes_look_as_expected() noexcept {
  struct known {
    int number;
    mutex_type type;
  };
  for (const known each : {known{PTHREAD_MUTEX_DEFAULT, mutex_type::normal},
                           known{PTHREAD_MUTEX_RECURSIVE, mutex_type::recursive},
                           known{PTHREAD_MUTEX_ERRORCHECK, mutex_type::error_checking},
                           known{PTHREAD_MUTEX_ADAPTIVE_NP, mutex_type::adaptive}}) {
    attributes set(each.number);
    pthread_mutex_t mutex;
    const bool expected =
        system.mutex_init(&mutex, set.get()) == 0 && is_taken_as_expected(mutex, each.type);
    if (!expected || system.mutex_destroy(&mutex) != 0) return false;
  }
  return true;
}

/// Whether a mutex with these attributes is told as one that is not served.
bool is_told_apart(attributes& set, probe::not_served because) noexcept {
  pthread_mutex_t mutex;
  if (system.mutex_init(&mutex, set.get()) != 0) return true;  // there is none
  const mutex_kind kind = kind_of(mutex);
  system.mutex_destroy(&mutex);
  return !kind.served && kind.because == because;
}

bool other_mutexes_are_told_apart() noexcept {
  attributes shared(PTHREAD_MUTEX_DEFAULT), kept(PTHREAD_MUTEX_DEFAULT),
      inheriting(PTHREAD_MUTEX_DEFAULT);
  pthread_mutexattr_setpshared(shared.get(), PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(kept.get(), PTHREAD_MUTEX_ROBUST);
  pthread_mutexattr_setprotocol(inheriting.get(), PTHREAD_PRIO_INHERIT);
  return is_told_apart(shared, probe::not_served::process_shared) &&
         is_told_apart(kept, probe::not_served::robust) &&
         is_told_apart(inheriting, probe::not_served::priority);
}

bool rwlocks_look_as_expected() noexcept {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  bool expected = is_free(lock) && is_write_free(lock) && is_served(lock);
  expected &= system.rwlock_rdlock(&lock) == 0 && !is_free(lock) && is_write_free(lock);
  expected &= system.rwlock_unlock(&lock) == 0 && is_free(lock) && is_write_free(lock);
  expected &= system.rwlock_wrlock(&lock) == 0 && !is_free(lock) && !is_write_free(lock) &&
              is_written_by(lock, this_thread_id());
  expected &= system.rwlock_unlock(&lock) == 0 && is_free(lock) && is_write_free(lock) &&
              is_written_by(lock, 0) && lock.__data.__pad3 == 0;
  pthread_rwlockattr_t shared;
  pthread_rwlockattr_init(&shared);
  pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  system.rwlock_init(&lock, &shared);
  pthread_rwlockattr_destroy(&shared);
  return expected && !is_served(lock);
}

}  // namespace

mutex_kind kind_of(const pthread_mutex_t& mutex) noexcept {
  const int kind = word_of<int>(mutex.__data.__kind).load(std::memory_order_relaxed);
  const int flags = kind & ~(type_mask | never_system_elided);
  if (flags == 0 && (kind & type_mask) <= PTHREAD_MUTEX_ADAPTIVE_NP) [[likely]]
    return {true, static_cast<mutex_type>(kind & type_mask), {}};
  const auto because = [flags] {
    if (flags < 0) return probe::not_served::unknown;  // destroyed
    if (flags & robust) return probe::not_served::robust;
    if (flags & priority) return probe::not_served::priority;
    if (flags & process_shared) return probe::not_served::process_shared;
    if (flags & system_elided) return probe::not_served::system_elided;
    return probe::not_served::unknown;
  };
  return {false, mutex_type::normal, because()};
}

bool looks_as_expected() noexcept {
  return mutexes_look_as_expected() && other_mutexes_are_told_apart() && rwlocks_look_as_expected();
}

}  // namespace unlatch::preload
