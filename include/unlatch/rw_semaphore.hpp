// SPDX-License-Identifier: Apache-2.0
//
// rw_semaphore: a reader-writer lock that serves readers and writers in the order in which they
// came, as the Linux kernel's rw_semaphore does. Readers that come one after the other hold it
// together.
//
// Thread safety: every member may be called by any thread; unlock(), downgrade() and
// unlock_shared() by a holder.
//
// Everybody draws a number from next_. Two counters call the numbers up:
//
//   readers_.now() == n | the thread with number n may enter if it is a reader
//   writers_.now() == n | all with smaller numbers have left: n may enter if it is a writer
//
//   state                          | relation
//   -------------------------------+---------------------------------------------------------
//   free                           | writers_ == readers_ == next_
//   r readers, nobody waits        | writers_ + r == readers_ == next_
//   a writer holds or waits        | readers_ != next_ (also while a reader is about to enter)
//
// Invariants
//   1. writers_.now() <= readers_.now() <= next_ (modulo 2^32).
//   2. An entering reader calls the next number for readers and a leaving one for writers; a
//      leaving writer calls both. So each number is called once by each counter: by its
//      predecessor's entry at the earliest for a reader, and by the last departure before it for a
//      writer.
//   3. Nobody starves: no number is passed over. No lost wake-up: ticket_queue.hpp.
//
// A section reads and writes these 44 bytes. Cost of a section of either mode without contention:
// two locked instructions. Source: the fair reader-writer locks of Mellor-Crummey and Scott, PPoPP
// 1991, here with two counters; downgrade() as in Linux, kernel/locking/rwsem.c.
#pragma once

#include <atomic>
#include <cstdint>

#include "unlatch/platform.hpp"
#include "unlatch/ticket_queue.hpp"

namespace unlatch {

/// A fair reader-writer lock; satisfies SharedLockable. Not recursive, not even in shared mode: a
/// second lock_shared() of one thread waits for a writer that came in between.
class rw_semaphore {
 public:
  rw_semaphore() = default;
  rw_semaphore(const rw_semaphore&) = delete;
  rw_semaphore& operator=(const rw_semaphore&) = delete;

  /// Acquires the lock exclusively, after all who came before have left.
  void lock() noexcept {
    owner_.before_lock(this);
    writers_.wait_for(next_.fetch_add(1, std::memory_order_relaxed));
    owner_.after_lock();
  }

  /// Acquires the lock exclusively if nobody holds it or waits for it.
  bool try_lock() noexcept {
    owner_.before_lock(this);
    std::uint32_t now = writers_.now();
    if (!next_.compare_exchange_strong(now, now + 1, std::memory_order_relaxed)) return false;
    owner_.after_lock();
    return true;
  }

  /// Releases the lock, which the caller holds exclusively.
  void unlock() noexcept {
    owner_.before_unlock(this);
    // Readers first, so that writers_ never overtakes readers_. From then on the next reader may
    // enter and leave and call a writer, too; which of the two calls comes first does not matter.
    readers_.call_next();
    writers_.call_one_more();
  }

  /// Acquires the lock in shared mode, after the writers that came before have left.
  void lock_shared() noexcept {
    owner_.before_lock(this);
    readers_.wait_for(next_.fetch_add(1, std::memory_order_relaxed));
    readers_.call_next();
  }

  /// Acquires the lock in shared mode if no writer holds it or waits for it.
  bool try_lock_shared() noexcept {
    owner_.before_lock(this);
    std::uint32_t now = readers_.now();
    if (!next_.compare_exchange_strong(now, now + 1, std::memory_order_relaxed)) return false;
    readers_.call_next();
    return true;
  }

  /// Releases the lock, which the caller holds in shared mode.
  void unlock_shared() noexcept {
    if (UNLATCH_CHECKED && writers_.now() == readers_.now())
      detail::misuse("unlock_shared without lock: nobody holds the lock in shared mode", this);
    writers_.call_one_more();
  }

  /// Turns the caller's exclusive hold into a shared one without letting a writer in between.
  /// Readers that wait next in line enter. Ends with unlock_shared().
  void downgrade() noexcept {
    owner_.before_unlock(this);
    readers_.call_next();
  }

  /// Whether nobody holds the lock or waits for it; readable inside a transaction.
  bool is_free() const noexcept {
    const std::uint32_t now = writers_.now();
    return next_.load(std::memory_order_relaxed) == now;
  }

  /// Whether no writer holds the lock or waits for it; readable inside a transaction.
  bool is_write_free() const noexcept {
    const std::uint32_t now = readers_.now();
    return next_.load(std::memory_order_relaxed) == now;
  }

 private:
  std::atomic<std::uint32_t> next_{0};
  detail::ticket_queue<> readers_;
  detail::ticket_queue<> writers_;
  [[no_unique_address]] detail::owner_check owner_;
};

}  // namespace unlatch
