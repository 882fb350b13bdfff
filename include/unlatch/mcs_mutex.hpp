// SPDX-License-Identifier: Apache-2.0
//
// mcs_mutex: a queue of waiters in which each waits on a cache line of its own, so that a release
// disturbs one thread and not all. For locks with many waiters on many CPUs.
//
// Thread safety: every member may be called by any thread; unlock() by the thread that locked.
//
//   tail_                | meaning
//   ---------------------+---------------------------------------------------
//   null                 | free
//   the holder's node    | held, nobody waits
//   another node         | held; the waiters hang behind the holder by `next`
//
//   node.state | meaning, to the waiter that owns the node
//   -----------+-------------------------------------------------------------
//   waiting    | spins or is about to sleep
//   asleep     | sleeps, or will look at the state before it does
//   granted    | owns the lock
//
// Invariants
//   1. The queue is in the order of the exchanges of tail_. Each node is linked by its owner to the
//      one before it, exactly once.
//   2. Only the holder touches holder_. A node's owner takes it back into its pool when nobody can
//      reach it any more: it is not the tail, and the one behind it has linked itself.
//   3. No lost wake-up: falling asleep and granting both change the one word `state`.
//
// A section reads and writes this line and the thread's own node. Fair, first in first out, with
// the price that ticket_mutex.hpp states. A thread may hold any number of them and release them in
// any order; its first ones allocate a node each, which the thread keeps until it ends. Source:
// Mellor-Crummey and Scott, "Algorithms for Scalable Synchronization on Shared-Memory
// Multiprocessors", ACM TOCS 9(1), 1991, section 2.4; there the caller brings the node.
#pragma once

#include <atomic>
#include <cstdint>

#include "unlatch/parking.hpp"
#include "unlatch/parking_lock.hpp"
#include "unlatch/platform.hpp"

namespace unlatch {
namespace detail {

struct alignas(cache_line) mcs_node {
  enum : std::uint32_t { waiting, asleep, granted };

  std::atomic<mcs_node*> next{nullptr};  ///< the one behind; in the pool: the next unused node
  std::atomic<std::uint32_t> state{waiting};
};

/// A node from the calling thread's pool, reset. Throws std::bad_alloc if it must be made and
/// cannot.
mcs_node* take_mcs_node();
/// Gives back a node that the calling thread took.
void give_back_mcs_node(mcs_node* node) noexcept;

}  // namespace detail

/// A fair mutual exclusion lock for many waiters; satisfies Lockable. Not recursive. Lock and
/// unlock without contention cost two locked instructions.
class mcs_mutex {
 public:
  mcs_mutex() = default;
  mcs_mutex(const mcs_mutex&) = delete;
  mcs_mutex& operator=(const mcs_mutex&) = delete;

  /// Acquires the lock after all who came before. Throws std::bad_alloc if this is more locks than
  /// the thread ever held at a time and there is no memory for another node.
  void lock() {
    owner_.before_lock(this);
    detail::mcs_node* const mine = detail::take_mcs_node();
    if (detail::mcs_node* const before = tail_.exchange(mine, std::memory_order_acq_rel)) {
      before->next.store(mine, std::memory_order_release);
      wait_until_granted(*mine);
    }
    holder_ = mine;
    owner_.after_lock();
  }

  /// Acquires the lock if nobody holds it. Throws as lock() does.
  bool try_lock() {
    owner_.before_lock(this);
    if (!is_free()) return false;
    detail::mcs_node* const mine = detail::take_mcs_node();
    detail::mcs_node* nobody = nullptr;
    if (!tail_.compare_exchange_strong(nobody, mine, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
      detail::give_back_mcs_node(mine);
      return false;
    }
    holder_ = mine;
    owner_.after_lock();
    return true;
  }

  /// Releases the lock, which the caller holds, to the next in line.
  void unlock() noexcept {
    owner_.before_unlock(this);
    detail::mcs_node* const mine = holder_;
    detail::mcs_node* last = mine;
    if (mine->next.load(std::memory_order_relaxed) != nullptr ||
        !tail_.compare_exchange_strong(last, nullptr, std::memory_order_release,
                                       std::memory_order_relaxed))
      grant(*next_of(*mine));
    detail::give_back_mcs_node(mine);
  }

  /// Whether nobody holds the lock or waits for it; readable inside a transaction.
  bool is_free() const noexcept { return tail_.load(std::memory_order_acquire) == nullptr; }

 private:
  [[gnu::noinline, gnu::cold]] static void wait_until_granted(detail::mcs_node& mine) noexcept {
    using node = detail::mcs_node;
    const auto granted = [&mine] {
      return mine.state.load(std::memory_order_acquire) == node::granted;
    };
    detail::spinner patience(100, 8);
    while (patience.spin())
      if (granted()) return;
    // Not yield(): the lock would be ours for as long as the scheduler passes over us.
    std::uint32_t expected = node::waiting;
    mine.state.compare_exchange_strong(expected, node::asleep, std::memory_order_acquire);
    while (!granted()) parking::wait(mine.state, node::asleep);
  }

  /// The node behind `mine`, whose owner has become the tail and is about to link itself.
  static detail::mcs_node* next_of(const detail::mcs_node& mine) noexcept {
    detail::mcs_node* next;
    for (unsigned looks = 1; (next = mine.next.load(std::memory_order_acquire)) == nullptr;
         ++looks) {
      cpu_relax();
      if (looks % 64 == 0) parking::yield();  // it may need this CPU for its one store
    }
    return next;
  }

  static void grant(detail::mcs_node& next) noexcept {
    using node = detail::mcs_node;
    // Once granted, the node may be gone: only its address is used, as parking::wake() allows.
    if (next.state.exchange(node::granted, std::memory_order_release) == node::asleep)
      parking::wake(&next.state, 1);
  }

  std::atomic<detail::mcs_node*> tail_{nullptr};
  detail::mcs_node* holder_ = nullptr;
  [[no_unique_address]] detail::owner_check owner_;
};

}  // namespace unlatch
