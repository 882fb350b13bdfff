// SPDX-License-Identifier: Apache-2.0
//
// Mutexes that become locks of another algorithm. The lock is kept in the mutex, in the 16 bytes
// that the system uses for robust mutexes only (layout.hpp), so there is no table to look it up in.
//
// Condition variables stay the system's, and they wait with the system's mutex. So beneath the
// swapped lock the mutex itself is taken, too, as LiTL does (Guiroux, Lachaize, Quéma, "Multicore
// Locks: The Case Is Not Closed Yet", USENIX ATC 2016, section 3); here only once somebody has
// waited on a condition with it.
//
//   __count, if the system does not use it | meaning
//   ---------------------------------------+------------------------------------------------------
//   bit 0                                  | some thread has waited on a condition with this mutex
//   bits 1-31                              | how often the process had forked when it was locked
//
// Invariants
//   1. Who holds the mutex holds the swapped lock, and beneath it the system's mutex if bit 0 is
//      set or the type knows its owner. Only the holder writes __count, so it knows at unlock().
//   2. A thread that waits on a condition has given the swapped lock back and holds the system's
//      mutex until the condition knows it. Who signals with the mutex held took the system's
//      mutex, hence after that: no wake-up is lost.
//   3. The swapped lock is never waited for with the system's mutex held.
#include <errno.h>

#include <cstring>
#include <new>

#include "src/preload/run/counters.hpp"
#include "src/preload/run/layout.hpp"
#include "src/preload/run/modes.hpp"
#include "src/preload/run/system.hpp"
#include "unlatch/mcs_mutex.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/ticket_mutex.hpp"

namespace unlatch::preload {
namespace {

using statistics::counter;

constinit std::atomic<std::uint32_t> forks{0};

/// What __count says, by the table above.
class holder_state {
 public:
  explicit holder_state(pthread_mutex_t& mutex) noexcept
      : word_(word_of<std::uint32_t>(mutex.__data.__count)) {}

  bool has_waited() const noexcept { return load() & waited; }
  void set_waited() noexcept { store(load() | waited); }
  void set_forks() noexcept {
    const std::uint32_t now = forks.load(std::memory_order_relaxed) << 1;
    if (const std::uint32_t word = load(); (word & ~waited) != now) store((word & waited) | now);
  }
  /// Whether it was locked before this process was forked.
  bool is_of_parent() const noexcept {
    return (load() & ~waited) != forks.load(std::memory_order_relaxed) << 1;
  }

 private:
  static constexpr std::uint32_t waited = 1;
  std::uint32_t load() const noexcept { return word_.load(std::memory_order_relaxed); }
  void store(std::uint32_t value) noexcept { word_.store(value, std::memory_order_relaxed); }

  std::atomic<std::uint32_t>& word_;
};

bool is_past(deadline until) noexcept {
  timespec now;
  clock_gettime(until.clock, &now);
  return now.tv_sec > until.time->tv_sec ||
         (now.tv_sec == until.time->tv_sec && now.tv_nsec >= until.time->tv_nsec);
}

template <class Lock>
struct swapped {
  static_assert(sizeof(Lock) <= sizeof(pthread_mutex_t::__data.__list) && alignof(Lock) <= 8,
                "it must fit into the mutex");

  static Lock& lock_in(pthread_mutex_t& mutex) noexcept {
    return *std::launder(reinterpret_cast<Lock*>(&mutex.__data.__list));
  }

  /// Whether the holder holds the system's mutex, too.
  static bool has_inner(pthread_mutex_t& mutex, mutex_kind kind) noexcept {
    return kind.knows_owner() || holder_state(mutex).has_waited();
  }
  static bool is_mine(pthread_mutex_t& mutex, mutex_kind kind) noexcept {
    return kind.knows_owner() && is_owned_by(mutex, this_thread_id());
  }

  /// What is left to do once the swapped lock is taken.
  static int took(pthread_mutex_t& mutex, mutex_kind kind) noexcept {
    const int result = has_inner(mutex, kind) ? system.mutex_lock(&mutex) : 0;
    if (!kind.knows_owner()) holder_state(mutex).set_forks();
    return result;
  }

  /// Releases the swapped lock. Behind it there may be threads that a fork has left in the parent:
  /// then it is a new lock.
  static void release(pthread_mutex_t& mutex, mutex_kind kind) noexcept {
    if (!kind.knows_owner() && holder_state(mutex).is_of_parent()) [[unlikely]]
      std::memset(&mutex.__data.__list, 0, sizeof(mutex.__data.__list));
    else
      lock_in(mutex).unlock();
  }

  /// Looks again and again, since none of these locks lets a waiter leave.
  static int wait_until(Lock& lock, deadline until) noexcept {
    if (until.time->tv_nsec < 0 || until.time->tv_nsec >= 1'000'000'000) return EINVAL;
    constexpr std::uint32_t longest_nap_us = 500;
    static constexpr std::atomic<std::uint32_t> nothing{0};
    for (std::uint32_t nap_us = 10; !is_past(until);
         nap_us = nap_us * 2 < longest_nap_us ? nap_us * 2 : longest_nap_us) {
      if (lock.try_lock()) return 0;
      parking::wait_until(nothing, 0, parking::clock::now() + std::chrono::microseconds(nap_us));
    }
    return lock.try_lock() ? 0 : ETIMEDOUT;
  }

  static detail::row_id row_of(pthread_mutex_t& mutex, const void* site) noexcept {
    return row_for(word_of<std::uint16_t>(mutex.__data.__elision), &mutex, site);
  }

  static int lock(pthread_mutex_t& mutex, deadline until, const void* site) {
    const mutex_kind kind = kind_of(mutex);
    if (is_mine(mutex, kind)) return system_lock(mutex, until);
    Lock& lock = lock_in(mutex);
    const detail::row_id row = row_of(mutex, site);
    if (until.time == nullptr) [[likely]]
      lock.lock();
    else if (!lock.try_lock())
      if (const int failed = wait_until(lock, until); failed != 0) return failed;
    const int result = took(mutex, kind);
    detail::this_thread_row(row).add(counter::sections);
    return result;
  }

  static int try_lock(pthread_mutex_t& mutex, const void* site) {
    const mutex_kind kind = kind_of(mutex);
    if (is_mine(mutex, kind)) return system.mutex_trylock(&mutex);
    if (!lock_in(mutex).try_lock()) return EBUSY;
    const int result = took(mutex, kind);
    detail::this_thread_row(row_of(mutex, site)).add(counter::sections);
    return result;
  }

  static int unlock(pthread_mutex_t& mutex) {
    const mutex_kind kind = kind_of(mutex);
    if (kind.knows_owner() && !is_mine(mutex, kind)) return system.mutex_unlock(&mutex);
    if (lock_in(mutex).is_free()) [[unlikely]]
      return 0;  // unlocked by mistake; the system's mutexes forgive that, too
    const bool stays = kind.type == mutex_type::recursive && mutex.__data.__count > 1;
    if (has_inner(mutex, kind))
      if (const int failed = system.mutex_unlock(&mutex); failed != 0) return failed;
    if (!stays) release(mutex, kind);
    return 0;
  }

  static int destroy(pthread_mutex_t& mutex) {
    if (!lock_in(mutex).is_free()) return EBUSY;
    return system.mutex_destroy(&mutex);
  }

  /// From the end of a wait, also of one that is cancelled, the thread holds the mutex again.
  struct waiter {
    pthread_mutex_t& mutex;
    mutex_kind kind;
  };
  static void take_again(void* waiting) {
    const auto [mutex, kind] = *static_cast<waiter*>(waiting);
    system.mutex_unlock(&mutex);
    lock_in(mutex).lock();
    took(mutex, kind);
  }

  static int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, deadline until) {
    const mutex_kind kind = kind_of(mutex);
    // Locked more than once it stays locked, and an error is the system's to tell.
    const bool gives_up =
        kind.knows_owner() ? is_mine(mutex, kind) &&
                                 !(kind.type == mutex_type::recursive && mutex.__data.__count > 1)
                           : !lock_in(mutex).is_free();
    if (!gives_up) return system_wait(condition, mutex, until);
    if (!has_inner(mutex, kind)) {
      system.mutex_lock(&mutex);
      holder_state(mutex).set_waited();
    }
    release(mutex, kind);
    waiter waiting{mutex, kind};
    int result;
    pthread_cleanup_push(take_again, &waiting);
    result = system_wait(condition, mutex, until);
    pthread_cleanup_pop(1);
    return result;
  }

  static constexpr mutex_mode functions = {lock, try_lock, unlock, destroy, wait};
};

}  // namespace

mode swapped_mode(probe::lock_algorithm algorithm) noexcept {
  switch (algorithm) {
    case probe::lock_algorithm::mutex:
      return {&swapped<mutex>::functions};
    case probe::lock_algorithm::spin:
      return {&swapped<spin_mutex>::functions};
    case probe::lock_algorithm::ticket:
      return {&swapped<detail::ticket_lock<2>>::functions};  // four rooms do not fit
    case probe::lock_algorithm::mcs:
      return {&swapped<mcs_mutex>::functions};
    case probe::lock_algorithm::elided:
      break;
  }
  return {};
}

void swapped_locks_after_fork() noexcept { forks.fetch_add(1, std::memory_order_relaxed); }

}  // namespace unlatch::preload
