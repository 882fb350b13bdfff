// SPDX-License-Identifier: Apache-2.0
//
// The core of spin_mutex and mutex: an eight-byte lock that spins for a while and then parks.
//
// Thread safety: every member may be called by any thread; unlock() by the holder.
//
//   field    | value | meaning
//   ---------+-------+------------------------------------------------------------------------
//   held_    | 0     | free
//            | 1     | held
//   waking_  | 1     | a sleeper was woken and has not looked at the lock yet: wake no other one
//   waiters_ | n     | threads that sleep or are about to; never less than the sleepers
//   epoch_   | any   | sleepers sleep on it; every wake-up changes it
//
// Invariants
//   1. A thread owns the lock iff its exchange of held_ returned 0.
//   2. No lost wake-up. A waiter announces itself in waiters_, then executes a barrier in all
//      threads, then looks at held_ once more before it sleeps. unlock() clears held_ and then
//      loads waiters_. If the waiter still saw the lock held, that unlock's store came after the
//      barrier, and so does its load: it sees the waiter. The barrier is the waiter's, so unlock()
//      needs none: one locked instruction for a lock and unlock, where std::mutex needs two.
//   3. If waking_ is set while somebody waits, some waiter will still clear it, look at epoch_ and
//      try the lock: it clears before it looks, and unlock() looks at waking_ (a locked exchange)
//      after it has cleared held_, so one of the two sees the other.
//
// A section reads and writes nothing but this word. Not fair: a running thread may overtake
// sleepers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "unlatch/parking.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::detail {

/// Spins with exponential back-off on a word before it gives up. One per acquisition.
class spinner {
 public:
  /// Gives up after about `rounds` looks at the lock, with at most `longest` pauses between two
  /// looks.
  constexpr spinner(unsigned rounds, unsigned longest) noexcept
      : rounds_(rounds), longest_(longest) {}

  /// Pauses; false once the budget is used up. On one CPU nobody can release what we spin for.
  bool spin() noexcept {
    if (rounds_ == 0 || parking::cpus() == 1) return false;
    --rounds_;
    for (unsigned i = 0; i < pauses_; ++i) cpu_relax();
    if (pauses_ < longest_) pauses_ *= 2;
    return true;
  }

 private:
  unsigned rounds_;
  unsigned longest_;
  unsigned pauses_ = 1;
};

/// `Waiting` has the constants `spin_rounds`, `longest_pause` and `yields`.
template <class Waiting>
class parking_lock {
 public:
  parking_lock() = default;
  parking_lock(const parking_lock&) = delete;
  parking_lock& operator=(const parking_lock&) = delete;

  /// Acquires the lock. Uncontended: one locked instruction.
  void lock() noexcept {
    owner_.before_lock(this);
    if (held_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]]
      lock_contended();
    owner_.after_lock();
  }

  /// Acquires the lock if it is free.
  bool try_lock() noexcept {
    owner_.before_lock(this);
    if (!acquire_if_free()) return false;
    owner_.after_lock();
    return true;
  }

  /// Releases the lock, which the caller holds. Two plain memory accesses if nobody sleeps.
  void unlock() noexcept {
    owner_.before_unlock(this);
    held_.store(0, std::memory_order_release);
    parking::light_fence();
    if (waiters_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_one();
  }

  /// Whether nobody holds the lock. Reading it inside a transaction puts the lock in the read set,
  /// which is all that elision needs.
  bool is_free() const noexcept { return held_.load(std::memory_order_acquire) == 0; }

 private:
  bool acquire_if_free() noexcept {
    return held_.load(std::memory_order_relaxed) == 0 &&
           held_.exchange(1, std::memory_order_acquire) == 0;
  }

  [[gnu::noinline, gnu::cold]] void lock_contended() noexcept {
    spinner patience(Waiting::spin_rounds, Waiting::longest_pause);
    while (patience.spin())
      if (acquire_if_free()) return;
    for (unsigned i = 0; i < Waiting::yields; ++i) {
      parking::yield();
      if (acquire_if_free()) return;
    }
    park();
  }

  void park() noexcept {
    waiters_.fetch_add(1, std::memory_order_seq_cst);
    const bool barrier_done = parking::barrier_in_all_threads();
    for (;;) {
      waking_.store(0, std::memory_order_seq_cst);
      const std::uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
      if (held_.exchange(1, std::memory_order_acquire) == 0) break;
      if (barrier_done)
        parking::wait(epoch_, epoch);
      else  // no barrier, so an unlock may have missed us: look again after a millisecond
        parking::wait_until(epoch_, epoch, parking::clock::now() + std::chrono::milliseconds(1));
      spinner patience(Waiting::spin_rounds / 8, Waiting::longest_pause);
      while (!is_free() && patience.spin()) {
      }
    }
    waiters_.fetch_sub(1, std::memory_order_relaxed);
  }

  [[gnu::noinline, gnu::cold]] void wake_one() noexcept {
    if (waking_.exchange(1, std::memory_order_seq_cst) != 0) return;
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    parking::wake(&epoch_, 1);
  }

  std::atomic<std::uint8_t> held_{0};
  std::atomic<std::uint8_t> waking_{0};
  std::atomic<std::uint16_t> waiters_{0};
  std::atomic<std::uint32_t> epoch_{0};
  [[no_unique_address]] owner_check owner_;
};

}  // namespace unlatch::detail
