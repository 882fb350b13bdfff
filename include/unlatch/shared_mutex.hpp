// SPDX-License-Identifier: Apache-2.0
//
// shared_mutex: a reader-writer lock that spins and then parks. Writers are not starved: a writer
// that has waited for a while closes the gate to new readers. Readers are not shut out: each
// exclusive section that ends opens it.
//
// Thread safety: every member may be called by any thread; unlock() and unlock_shared() by a
// holder.
//
//   state_ | bits | meaning
//   -------+------+--------------------------------------------------------------------------
//          |  0   | `writer`: held exclusively
//          |  1   | `gate`: a writer waits, readers stay out
//          | 2-31 | number of threads that hold it in shared mode
//
//   sleeping_readers_, sleeping_writers_ | at least the number of threads that sleep
//   reader_epoch_, writer_epoch_         | they sleep on it; every wake-up changes it
//
// Invariants
//   1. `writer` and a number of readers other than 0 exclude each other.
//   2. No lost wake-up. A waiter counts itself as sleeping, reads its epoch, then looks at state_
//      and sleeps only if it may not enter. Who leaves changes state_, then reads the count, then
//      changes the epoch. All are sequentially consistent, so either the waiter sees the new state
//      or the leaver sees the waiter; and if the latter, the waiter's epoch is an old one.
//   3. A writer sleeps only while `writer` is set, or while there are readers and `gate` is set:
//      who unsets the former, and the last of the latter, wakes a writer. It leaves its sleep by
//      acquiring the lock only, and then wakes the next when it unlocks.
//   4. `gate` is unset by every unlock(), which wakes all readers, and set only by a waiting
//      writer, which will unlock some time: so readers do not sleep behind a gate for ever.
//
// A section reads and writes these 20 bytes; who leaves looks at the counts after that, so the lock
// must live until unlock() or unlock_shared() has returned. Not fair between threads of one mode.
// Cost without contention: two locked instructions a section.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "unlatch/parking.hpp"
#include "unlatch/parking_lock.hpp"
#include "unlatch/platform.hpp"

namespace unlatch {

/// A reader-writer lock; satisfies SharedLockable. Not recursive, not even in shared mode: a second
/// lock_shared() of one thread waits for a writer that came in between.
class shared_mutex {
 public:
  shared_mutex() = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;

  /// Acquires the lock exclusively.
  void lock() noexcept {
    owner_.before_lock(this);
    if (!acquire_if_free()) [[unlikely]]
      lock_contended();
    owner_.after_lock();
  }

  /// Acquires the lock exclusively if nobody holds it.
  bool try_lock() noexcept {
    owner_.before_lock(this);
    if (!acquire_if_free()) return false;
    owner_.after_lock();
    return true;
  }

  /// Releases the lock, which the caller holds exclusively.
  void unlock() noexcept {
    owner_.before_unlock(this);
    state_.fetch_and(~(writer | gate), std::memory_order_seq_cst);
    if (sleeping_readers_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake(reader_epoch_, INT_MAX);
    if (sleeping_writers_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake(writer_epoch_, 1);
  }

  /// Acquires the lock in shared mode.
  void lock_shared() noexcept {
    owner_.before_lock(this);
    if (!enter_if_open()) [[unlikely]]
      lock_shared_contended();
  }

  /// Acquires the lock in shared mode if no writer holds it or has waited for long.
  bool try_lock_shared() noexcept {
    owner_.before_lock(this);
    return enter_if_open();
  }

  /// Releases the lock, which the caller holds in shared mode.
  void unlock_shared() noexcept {
    const std::uint32_t before = state_.fetch_sub(one_reader, std::memory_order_seq_cst);
    if (UNLATCH_CHECKED && before < one_reader)
      detail::misuse("unlock_shared without lock: nobody holds the lock in shared mode", this);
    if (before / one_reader == 1 && sleeping_writers_.load(std::memory_order_seq_cst) != 0)
        [[unlikely]]
      wake(writer_epoch_, 1);
  }

  /// Whether nobody holds the lock in any mode; readable inside a transaction.
  bool is_free() const noexcept { return (state_.load(std::memory_order_acquire) & ~gate) == 0; }

  /// Whether nobody holds the lock exclusively; readable inside a transaction.
  bool is_write_free() const noexcept {
    return (state_.load(std::memory_order_acquire) & writer) == 0;
  }

 private:
  static constexpr std::uint32_t writer = 1;
  static constexpr std::uint32_t gate = 2;
  static constexpr std::uint32_t one_reader = 4;

  static constexpr detail::spinner patience() noexcept { return detail::spinner(60, 4); }

  bool acquire_if_free() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_seq_cst);
    return (seen & ~gate) == 0 &&
           state_.compare_exchange_strong(seen, seen | writer, std::memory_order_seq_cst);
  }

  bool enter_if_open() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_seq_cst);
    while ((seen & (writer | gate)) == 0)
      if (state_.compare_exchange_weak(seen, seen + one_reader, std::memory_order_seq_cst))
        return true;
    return false;
  }

  /// Closes the gate if readers hold the lock. Whether a writer may sleep now: see invariant 3.
  bool close_gate() noexcept {
    std::uint32_t seen = state_.load(std::memory_order_seq_cst);
    while ((seen & ~gate) != 0)
      if ((seen & (writer | gate)) != 0 ||
          state_.compare_exchange_weak(seen, seen | gate, std::memory_order_seq_cst))
        return true;
    return false;
  }

  [[gnu::noinline, gnu::cold]] void lock_contended() noexcept {
    for (detail::spinner spin = patience(); spin.spin();)
      if (acquire_if_free()) return;
    sleeping_writers_.fetch_add(1, std::memory_order_seq_cst);
    for (;;) {
      const std::uint32_t epoch = writer_epoch_.load(std::memory_order_seq_cst);
      if (acquire_if_free()) break;
      if (close_gate()) parking::wait(writer_epoch_, epoch);
    }
    sleeping_writers_.fetch_sub(1, std::memory_order_relaxed);
  }

  [[gnu::noinline, gnu::cold]] void lock_shared_contended() noexcept {
    for (detail::spinner spin = patience(); spin.spin();)
      if (enter_if_open()) return;
    sleeping_readers_.fetch_add(1, std::memory_order_seq_cst);
    for (;;) {
      const std::uint32_t epoch = reader_epoch_.load(std::memory_order_seq_cst);
      if (enter_if_open()) break;
      parking::wait(reader_epoch_, epoch);
    }
    sleeping_readers_.fetch_sub(1, std::memory_order_relaxed);
  }

  [[gnu::noinline, gnu::cold]] static void wake(std::atomic<std::uint32_t>& epoch,
                                                int count) noexcept {
    epoch.fetch_add(1, std::memory_order_seq_cst);
    parking::wake(&epoch, count);
  }

  std::atomic<std::uint32_t> state_{0};
  std::atomic<std::uint32_t> sleeping_readers_{0};
  std::atomic<std::uint32_t> sleeping_writers_{0};
  std::atomic<std::uint32_t> reader_epoch_{0};
  std::atomic<std::uint32_t> writer_epoch_{0};
  [[no_unique_address]] detail::owner_check owner_;
};

}  // namespace unlatch
