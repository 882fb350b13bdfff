// SPDX-License-Identifier: Apache-2.0
//
// ticket_mutex: first come, first served. Whoever comes draws a number and waits until it is
// called.
//
// Thread safety: every member may be called by any thread; unlock() by the holder.
//
//   next_ - queue_.now() | meaning
//   ---------------------+--------------------------------
//   0                    | free
//   n                    | held, n - 1 threads wait
//
// Invariants
//   1. The holder is the thread whose number is queue_.now(). Both numbers only grow (and wrap
//      around together), so next_ == now() means that nobody holds the lock or waits for it.
//   2. No lost wake-up: ticket_queue.hpp.
//
// A section reads and writes these 24 bytes. Fair: threads get the lock in the order of their
// locked instruction. The price of that order: with more threads than CPUs every section may have
// to wait for a sleeper to wake up, where an unfair lock goes to whoever runs. Source:
// Mellor-Crummey and Scott 1991, section 2.2 (proportional back-off).
#pragma once

#include <atomic>
#include <cstdint>

#include "unlatch/platform.hpp"
#include "unlatch/ticket_queue.hpp"

namespace unlatch {

namespace detail {

/// With so many rooms to sleep in (ticket_queue.hpp), four bytes each.
template <unsigned Rooms>
class ticket_lock {
 public:
  ticket_lock() = default;
  ticket_lock(const ticket_lock&) = delete;
  ticket_lock& operator=(const ticket_lock&) = delete;

  /// Acquires the lock after all who came before.
  void lock() noexcept {
    owner_.before_lock(this);
    queue_.wait_for(next_.fetch_add(1, std::memory_order_relaxed));
    owner_.after_lock();
  }

  /// Acquires the lock if nobody holds it or waits for it.
  bool try_lock() noexcept {
    owner_.before_lock(this);
    std::uint32_t now = queue_.now();
    if (!next_.compare_exchange_strong(now, now + 1, std::memory_order_relaxed)) return false;
    owner_.after_lock();
    return true;
  }

  /// Releases the lock, which the caller holds, to the next in line. No locked instruction.
  void unlock() noexcept {
    owner_.before_unlock(this);
    queue_.call_next();
  }

  /// Whether nobody holds the lock or waits for it; readable inside a transaction.
  bool is_free() const noexcept {
    const std::uint32_t now = queue_.now();
    return next_.load(std::memory_order_relaxed) == now;
  }

 private:
  std::atomic<std::uint32_t> next_{0};
  ticket_queue<Rooms> queue_;
  [[no_unique_address]] owner_check owner_;
};

}  // namespace detail

/// A fair mutual exclusion lock; satisfies Lockable. Not recursive. Lock and unlock without
/// contention cost one locked instruction.
class ticket_mutex : public detail::ticket_lock<4> {};

}  // namespace unlatch
