// SPDX-License-Identifier: Apache-2.0
//
// The core of spin_mutex and mutex: a four-byte lock that spins for a while and then sleeps.
//
// Thread safety: every member may be called by any thread; unlock() by the holder. A lock may be
// destroyed as soon as its last holder has released it, even before that unlock() has returned:
// after the store that releases it, unlock() uses the address and nothing of the contents.
//
//   held_ | meaning
//   ------+-----------------------------------------------------------------------------
//     0   | free
//     1   | held
//     2   | held, and somebody may sleep on the word (only if Waiting::is_woken)
//
// Invariants
//   1. A thread owns the lock iff it replaced a 0 in held_.
//   2. No lost wake-up. A waiter writes 2 and sleeps only while the word is 2 (the kernel looks).
//      Who replaces a 2 by 0 wakes one sleeper; and a sleeper that gets the lock leaves a 2, for it
//      does not know whether it was the last. Running threads that overtake it leave a 1: so while
//      a woken sleeper is on its way, nobody wakes another one.
//   3. Where sleepers are not woken they sleep for a limited time and look again: then unlock() is
//      one plain store.
//
// A section reads and writes nothing but this word. Not fair: a running thread may overtake
// sleepers. Source of the three states: U. Drepper, "Futexes Are Tricky", 2011, section 5.
#pragma once

#include <algorithm>
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

/// `Waiting` has the constants `spin_rounds`, `longest_pause`, `yields` and `is_woken`: whether
/// unlock() wakes a sleeper, at the price of a second locked instruction, or sleepers look again by
/// themselves.
template <class Waiting>
class parking_lock {
 public:
  parking_lock() = default;
  parking_lock(const parking_lock&) = delete;
  parking_lock& operator=(const parking_lock&) = delete;

  /// Acquires the lock. Uncontended: one locked instruction.
  void lock() noexcept {
    owner_.before_lock(this);
    if (!acquire()) [[unlikely]]
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

  /// Releases the lock, which the caller holds. One locked instruction, or a plain store.
  void unlock() noexcept {
    owner_.before_unlock(this);
    if constexpr (Waiting::is_woken) {
      if (held_.exchange(0, std::memory_order_release) == 2) [[unlikely]]
        parking::wake(&held_, 1);
    } else {
      held_.store(0, std::memory_order_release);
    }
  }

  /// Whether nobody holds the lock. Reading it inside a transaction puts the lock in the read set,
  /// which is all that elision needs.
  bool is_free() const noexcept { return held_.load(std::memory_order_acquire) == 0; }

 private:
  bool acquire() noexcept {
    if constexpr (!Waiting::is_woken) return held_.exchange(1, std::memory_order_acquire) == 0;
    std::uint32_t free = 0;  // not an exchange: that would overwrite a 2
    return held_.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  bool acquire_if_free() noexcept {
    return held_.load(std::memory_order_relaxed) == 0 && acquire();
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
    if constexpr (Waiting::is_woken) {
      while (held_.exchange(2, std::memory_order_acquire) != 0) parking::wait(held_, 2);
    } else {
      std::chrono::microseconds nap{50};
      while (!acquire_if_free()) {
        parking::wait_until(held_, 1, parking::clock::now() + nap);
        nap = std::min(2 * nap, std::chrono::microseconds(200));
      }
    }
  }

  std::atomic<std::uint32_t> held_{0};
  [[no_unique_address]] owner_check owner_;
};

}  // namespace unlatch::detail
