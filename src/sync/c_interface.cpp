// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "unlatch/condition_variable.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/parking.hpp"
#include "unlatch/shared_mutex.hpp"
#include "unlatch/statistics.hpp"
#include "unlatch/unlatch.h"

namespace {

using c_mutex = unlatch::elided<unlatch::mutex>;
using c_rwlock = unlatch::elided<unlatch::shared_mutex>;
using c_cond = unlatch::condition_variable;

template <class Object, class Storage>
concept fits = sizeof(Object) <= sizeof(Storage) && alignof(Object) <= alignof(Storage);

static_assert(fits<c_mutex, unlatch_mutex_t>);
static_assert(fits<c_rwlock, unlatch_rwlock_t>);
static_assert(fits<c_cond, unlatch_cond_t>);

// Storage filled with zero bytes serves as a constructed object, row 0 being that of locks without
// a name. It differs in the lock's sequence word, which is 1 in a constructed one; but only elide()
// reads that, and it is not part of the C interface.

c_mutex& object(unlatch_mutex_t* storage) { return *reinterpret_cast<c_mutex*>(storage); }
c_rwlock& object(unlatch_rwlock_t* storage) { return *reinterpret_cast<c_rwlock*>(storage); }
c_cond& object(unlatch_cond_t* storage) { return *reinterpret_cast<c_cond*>(storage); }

/// Calls `f`, which returns an error number or nothing.
template <class F>
int no_throw(F&& f) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      return 0;
    } else {
      return f();
    }
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

template <class Object, class Storage>
int construct(Storage* storage, const char* name) noexcept {
  return no_throw([=] {
    if (name == nullptr)
      ::new (storage) Object;
    else
      ::new (storage) Object(name);
  });
}

}  // namespace

const char* unlatch_version(void) { return UNLATCH_VERSION; }

int unlatch_mutex_init(unlatch_mutex_t* mutex, const char* name) {
  return construct<c_mutex>(mutex, name);
}

int unlatch_mutex_destroy(unlatch_mutex_t* mutex) {
  std::destroy_at(&object(mutex));
  return 0;
}

int unlatch_mutex_lock(unlatch_mutex_t* mutex) {
  return no_throw([=] { object(mutex).lock(); });
}

int unlatch_mutex_trylock(unlatch_mutex_t* mutex) {
  return no_throw([=] { return object(mutex).try_lock() ? 0 : EBUSY; });
}

int unlatch_mutex_unlock(unlatch_mutex_t* mutex) {
  return no_throw([=] { object(mutex).unlock(); });
}

int unlatch_rwlock_init(unlatch_rwlock_t* lock, const char* name) {
  return construct<c_rwlock>(lock, name);
}

int unlatch_rwlock_destroy(unlatch_rwlock_t* lock) {
  std::destroy_at(&object(lock));
  return 0;
}

int unlatch_rwlock_rdlock(unlatch_rwlock_t* lock) {
  return no_throw([=] { object(lock).lock_shared(); });
}

int unlatch_rwlock_tryrdlock(unlatch_rwlock_t* lock) {
  return no_throw([=] { return object(lock).try_lock_shared() ? 0 : EBUSY; });
}

int unlatch_rwlock_wrlock(unlatch_rwlock_t* lock) {
  return no_throw([=] { object(lock).lock(); });
}

int unlatch_rwlock_trywrlock(unlatch_rwlock_t* lock) {
  return no_throw([=] { return object(lock).try_lock() ? 0 : EBUSY; });
}

int unlatch_rwlock_unlock(unlatch_rwlock_t* lock) {
  return no_throw([=] {
    // The caller is in a section: if that is not an exclusive one, nobody is in one. A section in a
    // transaction ends the same way in both modes.
    if (object(lock).is_write_free())
      object(lock).unlock_shared();
    else
      object(lock).unlock();
  });
}

int unlatch_cond_init(unlatch_cond_t* cond) {
  ::new (cond) c_cond;
  return 0;
}

int unlatch_cond_destroy(unlatch_cond_t* cond) {
  std::destroy_at(&object(cond));
  return 0;
}

int unlatch_cond_wait(unlatch_cond_t* cond, unlatch_mutex_t* mutex) {
  return no_throw([=] { object(cond).wait(object(mutex)); });
}

int unlatch_cond_timedwait(unlatch_cond_t* cond, unlatch_mutex_t* mutex,
                           const struct timespec* deadline) {
  if (deadline->tv_nsec < 0 || deadline->tv_nsec >= 1'000'000'000) return EINVAL;
  return no_throw([=] {
    // The clock's time since its epoch is CLOCK_MONOTONIC's.
    constexpr std::time_t most_seconds = 9'000'000'000;  // about what 64 bits of nanoseconds hold
    const unlatch::parking::clock::time_point until(
        std::chrono::seconds(std::min(deadline->tv_sec, most_seconds)) +
        std::chrono::nanoseconds(deadline->tv_nsec));
    const std::cv_status ended = object(cond).wait_until(object(mutex), until);
    return ended == std::cv_status::timeout ? ETIMEDOUT : 0;
  });
}

int unlatch_cond_signal(unlatch_cond_t* cond) {
  return no_throw([=] { object(cond).notify_one(); });
}

int unlatch_cond_broadcast(unlatch_cond_t* cond) {
  return no_throw([=] { object(cond).notify_all(); });
}

int unlatch_cond_signal_after_unlock(unlatch_cond_t* cond, unlatch_mutex_t* mutex) {
  return no_throw([=] { object(cond).notify_one(object(mutex)); });
}

int unlatch_cond_broadcast_after_unlock(unlatch_cond_t* cond, unlatch_mutex_t* mutex) {
  return no_throw([=] { object(cond).notify_all(object(mutex)); });
}

char* unlatch_statistics_json(void) {
  try {
    const std::string json = unlatch::statistics::snapshot().to_json();
    char* const text = static_cast<char*>(std::malloc(json.size() + 1));
    if (text != nullptr) std::memcpy(text, json.c_str(), json.size() + 1);
    return text;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

int unlatch_statistics_reset(void) {
  unlatch::statistics::reset();
  return 0;
}
