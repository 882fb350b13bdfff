// SPDX-License-Identifier: Apache-2.0
//
// sr_latch: the latch that storage managers put on pages and index nodes. A reader-writer lock that
// can be asked how many readers it has and in which mode it is held, and that a reader may try to
// upgrade. After Shore-MT's srwlock (mcs_rwlock), which Cervini elides.
//
// Thread safety: every member may be called by any thread; unlock(), unlock_shared() and
// try_upgrade() by a holder.
//
//   holders_ | bits | meaning
//   ---------+------+------------------------------------------------------------------------
//            |  0   | `writer`: held exclusively, or claimed by a writer that waits for the readers
//            |      | to leave; keeps new readers out
//            |  1   | `asleep`: the head of the queue sleeps on this word or is about to
//            | 2-31 | number of threads that hold it in shared mode
//
// Invariants
//   1. A writer owns the latch when it has set `writer` and there are no readers left.
//   2. Who cannot enter at once queues for `queue_` and waits for holders_ as its only waiter. So
//      there is one sleeper on holders_ at most, and the others wait in the order of their arrival.
//   3. No lost wake-up: the sleeper sets `asleep` in the same word in which it saw that it cannot
//      enter, and sleeps only while that word is unchanged. Who leaves unsets it and wakes the
//      sleeper.
//
// A section reads and writes these 24 bytes. Cost without contention: two locked instructions a
// section. Fair but for newcomers that find the latch open. A section that was elided does not show
// in reader_count() and mode(). Source: Cervini 2015, section 3.2; Shore-MT, mcs_rwlock in
// mcs_lock.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "unlatch/mcs_mutex.hpp"
#include "unlatch/parking.hpp"
#include "unlatch/parking_lock.hpp"
#include "unlatch/platform.hpp"

namespace unlatch {

/// The modes in which a latch is held.
enum class latch_mode : std::uint8_t { free, shared, exclusive };

/// A reader-writer latch; satisfies SharedLockable. Not recursive, not even in shared mode. lock()
/// and lock_shared() may throw std::bad_alloc, as mcs_mutex does, if they have to wait.
class sr_latch {
 public:
  sr_latch() = default;
  sr_latch(const sr_latch&) = delete;
  sr_latch& operator=(const sr_latch&) = delete;

  /// Acquires the latch exclusively.
  void lock() {
    owner_.before_lock(this);
    if (!acquire_if_free()) [[unlikely]]
      lock_contended();
    owner_.after_lock();
  }

  /// Acquires the latch exclusively if nobody holds it.
  bool try_lock() noexcept {
    owner_.before_lock(this);
    if (!acquire_if_free()) return false;
    owner_.after_lock();
    return true;
  }

  /// Releases the latch, which the caller holds exclusively.
  void unlock() noexcept {
    owner_.before_unlock(this);
    wake_if(holders_.fetch_and(~(writer | asleep), std::memory_order_release) & asleep);
  }

  /// Acquires the latch in shared mode.
  void lock_shared() {
    owner_.before_lock(this);
    if (!enter_if_open()) [[unlikely]]
      lock_shared_contended();
  }

  /// Acquires the latch in shared mode if no writer holds it or waits for the readers to leave.
  bool try_lock_shared() noexcept {
    owner_.before_lock(this);
    return enter_if_open();
  }

  /// Releases the latch, which the caller holds in shared mode.
  void unlock_shared() noexcept {
    std::uint32_t seen = holders_.load(std::memory_order_relaxed);
    std::uint32_t left;
    do {
      if (UNLATCH_CHECKED && seen < one_reader)
        detail::misuse("unlock_shared without lock: nobody holds the latch in shared mode", this);
      left = seen - one_reader;
      if (left < one_reader) left &= ~asleep;
    } while (!holders_.compare_exchange_weak(seen, left, std::memory_order_release,
                                             std::memory_order_relaxed));
    wake_if((seen ^ left) & asleep);
  }

  /// Turns the caller's shared hold into an exclusive one if it is the only reader and no writer
  /// waits for it to leave. Otherwise returns false, and the caller still is a reader; it must then
  /// leave and lock() anew, for two readers that both waited to upgrade would wait for ever.
  bool try_upgrade() noexcept {
    std::uint32_t seen = holders_.load(std::memory_order_relaxed);
    if ((seen & ~asleep) != one_reader ||
        !holders_.compare_exchange_strong(seen, (seen & asleep) | writer, std::memory_order_acquire,
                                          std::memory_order_relaxed))
      return false;
    owner_.after_lock();
    return true;
  }

  /// How many threads hold the latch in shared mode. A moment's view, unless the caller holds it.
  std::uint32_t reader_count() const noexcept {
    return holders_.load(std::memory_order_acquire) / one_reader;
  }

  /// In which mode the latch is held: a moment's view, unless the caller holds it.
  latch_mode mode() const noexcept {
    const std::uint32_t seen = holders_.load(std::memory_order_acquire);
    if (seen >= one_reader) return latch_mode::shared;
    return seen & writer ? latch_mode::exclusive : latch_mode::free;
  }

  /// Whether nobody holds the latch in any mode; readable inside a transaction.
  bool is_free() const noexcept {
    return (holders_.load(std::memory_order_acquire) & ~asleep) == 0;
  }

  /// Whether no writer holds the latch or waits for the readers to leave; readable inside a
  /// transaction.
  bool is_write_free() const noexcept {
    return (holders_.load(std::memory_order_acquire) & writer) == 0;
  }

 private:
  static constexpr std::uint32_t writer = 1;
  static constexpr std::uint32_t asleep = 2;
  static constexpr std::uint32_t one_reader = 4;

  bool acquire_if_free() noexcept {
    std::uint32_t free = 0;
    return holders_.compare_exchange_strong(free, writer, std::memory_order_acquire,
                                            std::memory_order_relaxed);
  }

  bool enter_if_open() noexcept { return change_if_no_writer(one_reader); }

  /// Adds `change` to holders_ unless a writer holds or has claimed the latch.
  bool change_if_no_writer(std::uint32_t change) noexcept {
    std::uint32_t seen = holders_.load(std::memory_order_relaxed);
    while ((seen & writer) == 0)
      if (holders_.compare_exchange_weak(seen, seen + change, std::memory_order_acquire,
                                         std::memory_order_relaxed))
        return true;
    return false;
  }

  [[gnu::noinline, gnu::cold]] void lock_contended() {
    const std::lock_guard head(queue_);
    do wait_while([](std::uint32_t seen) { return (seen & writer) != 0; });
    while (!change_if_no_writer(writer));
    wait_while([](std::uint32_t seen) { return seen >= one_reader; });
  }

  [[gnu::noinline, gnu::cold]] void lock_shared_contended() {
    const std::lock_guard head(queue_);
    do wait_while([](std::uint32_t seen) { return (seen & writer) != 0; });
    while (!enter_if_open());
  }

  /// Spins, then sleeps while `blocked(holders_)`. The caller is the head of the queue.
  template <class Predicate>
  void wait_while(Predicate blocked) noexcept {
    const auto open = [&] { return !blocked(holders_.load(std::memory_order_acquire)); };
    detail::spinner patience(60, 4);
    do
      if (open()) return;
    while (patience.spin());
    for (;;) {
      std::uint32_t seen = holders_.load(std::memory_order_acquire);
      if (!blocked(seen)) return;
      if ((seen & asleep) ||
          holders_.compare_exchange_strong(seen, seen | asleep, std::memory_order_acquire))
        parking::wait(holders_, seen | asleep);
    }
  }

  void wake_if(std::uint32_t somebody_sleeps) noexcept {
    // By now the latch may be gone: only its address is used, as parking::wake() allows.
    if (somebody_sleeps != 0) [[unlikely]]
      parking::wake(&holders_, 1);
  }

  std::atomic<std::uint32_t> holders_{0};
  mcs_mutex queue_;
  [[no_unique_address]] detail::owner_check owner_;
};

}  // namespace unlatch
