// SPDX-License-Identifier: Apache-2.0
//
// mpsc_queue: a first-in-first-out queue that any number of threads push to and one thread pops
// from. Without hardware transactions it is Vyukov's exchange-based queue (1024cores, "Intrusive
// MPSC node-based queue"); with them, Nießing's last transactional variant (2020, algorithm 3.7).
//
// Thread safety: push() and empty() from any thread; try_pop() and the destructor from one thread
// at a time, the consumer.
//
//   head_ -> first -> second -> ... -> last <- tail_       head_ belongs to the consumer
//   head_ -> stub_ <- tail_                                the empty queue
//
// Invariants
//   1. tail_ is the node that was pushed last, or &stub_ if and only if the queue is empty.
//   2. Each node's next_ is written twice: with null before the node can be reached, and with its
//      successor by the one thread that found the node in tail_. In between the chain is broken
//      there, but tail_ is right: so a consumer at the break knows that more is to come, and waits.
//   3. The stub is in the chain only in front of the first node that is pushed to an empty queue.
//      The consumer puts it back when it takes the last node; this, by compare-and-swap instead of
//      a second push, is from liburcu's wfcqueue.
//   4. With transactions: tail_ changes inside a transaction that has read latch_ as free, or under
//      latch_. Without: by single atomic instructions. Htm::available() does not change while the
//      program runs, so the two never meet in one queue.
//
// Why 4 makes each change of tail_ (read the old last node, store the new one) one step: two
// transactions conflict on tail_; two threads under latch_ exclude each other; and latch_ is in the
// read set of a transaction from before it touches tail_ to its commit, so whoever takes the latch
// aborts it, and who begins later sees the latch held and aborts itself. A fallback beside the
// latch (Nießing's algorithm 3.3) would read tail_, lose the push that a transaction commits then,
// and store. The consumer's swing back to the stub obeys the same rule. The link is written outside
// the transaction: by 2 nobody else writes it.
//
// What an operation reads and writes: push the new node, tail_ (and latch_, on its line), and the
// node before. try_pop the node that it takes, and only where that is the last one, tail_.
//
// Progress: push is wait-free without transactions, else it waits for the latch. try_pop waits for
// a producer that has stored tail_ but not yet the link. Cost: push is one exchange and two stores;
// try_pop is two loads and a store, and one more atomic instruction for the last node.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "unlatch/htm.hpp"
#include "unlatch/parking.hpp"
#include "unlatch/platform.hpp"

namespace unlatch {

/// The base class of what an intrusive_mpsc_queue holds. A node is in one queue at most.
class mpsc_hook {
 public:
  mpsc_hook() = default;
  /// Copying a node does not copy its place in a queue.
  mpsc_hook(const mpsc_hook&) noexcept {}
  mpsc_hook& operator=(const mpsc_hook&) noexcept { return *this; }

 private:
  template <class, class>
  friend class intrusive_mpsc_queue;

  std::atomic<mpsc_hook*> next_;  ///< meaningful in a queue only
};

/// A queue of nodes that the caller owns. `T` derives from mpsc_hook; `Htm` is a backend (htm.hpp).
template <class T, class Htm = htm::hardware>
class intrusive_mpsc_queue {
 public:
  /// Transactions that a push attempts before it takes the latch: Nießing, section 4.1.
  static constexpr unsigned attempts = 10;

  intrusive_mpsc_queue() = default;
  intrusive_mpsc_queue(const intrusive_mpsc_queue&) = delete;
  intrusive_mpsc_queue& operator=(const intrusive_mpsc_queue&) = delete;

  /// Appends `node`, which must live until it is popped. Any thread.
  void push(T& node) noexcept {
    mpsc_hook& last = node;
    last.next_.store(nullptr, std::memory_order_relaxed);
    mpsc_hook* const before = Htm::available() ? become_last_transactionally(last)
                                               : tail_.exchange(&last, std::memory_order_acq_rel);
    before->next_.store(&last, std::memory_order_release);
  }

  /// Takes the first node; null if the queue is empty. Waits while a producer is about to link the
  /// node behind it: spins, then yields. The consumer only.
  T* try_pop() noexcept {
    mpsc_hook* first = head_;
    mpsc_hook* second = first->next_.load(std::memory_order_acquire);
    if (first == &stub_) {
      if (second == nullptr) {
        if (empty()) return nullptr;
        second = await_link(*first);
      }
      first = second;
      second = first->next_.load(std::memory_order_acquire);
    }
    if (second == nullptr) {
      stub_.next_.store(nullptr, std::memory_order_relaxed);
      if (replace_last_by_stub(first)) {
        head_ = &stub_;
        return static_cast<T*>(first);
      }
      second = await_link(*first);
    }
    head_ = second;
    return static_cast<T*>(first);
  }

  /// Whether every push that came before is popped. Any thread. Reads the line that producers
  /// write.
  bool empty() const noexcept { return tail_.load(std::memory_order_acquire) == &stub_; }

 private:
  [[gnu::noinline]] mpsc_hook* become_last_transactionally(mpsc_hook& last) noexcept {
    for (unsigned attempt = 0; attempt < attempts; ++attempt) {
      if (!latch_.load(std::memory_order_relaxed) && Htm::begin().started()) {
        if (!latch_.load(std::memory_order_relaxed)) {
          mpsc_hook* const before = tail_.load(std::memory_order_acquire);
          tail_.store(&last, std::memory_order_release);
          Htm::commit();
          return before;
        }
        Htm::template abort<htm::status::lock_held_code>();
      }
      await_latch();
    }
    take_latch();
    mpsc_hook* const before = tail_.load(std::memory_order_acquire);
    tail_.store(&last, std::memory_order_release);
    release_latch();
    return before;
  }

  /// False if `last` is not the last node any more.
  bool replace_last_by_stub(mpsc_hook* last) noexcept {
    if (!Htm::available())
      return tail_.compare_exchange_strong(last, &stub_, std::memory_order_acq_rel,
                                           std::memory_order_relaxed);
    if (tail_.load(std::memory_order_relaxed) != last) return false;  // abort nobody in vain
    take_latch();
    const bool is_last = tail_.load(std::memory_order_acquire) == last;
    if (is_last) tail_.store(&stub_, std::memory_order_release);
    release_latch();
    return is_last;
  }

  /// The successor of `node`, which is not the last one.
  [[gnu::noinline]] static mpsc_hook* await_link(const mpsc_hook& node) noexcept {
    for (unsigned looks = 1;; ++looks) {
      if (mpsc_hook* const next = node.next_.load(std::memory_order_acquire)) return next;
      pause(looks);
    }
  }

  void await_latch() const noexcept {
    for (unsigned looks = 1; latch_.load(std::memory_order_relaxed); ++looks) pause(looks);
  }
  void take_latch() noexcept {
    do {
      await_latch();
    } while (latch_.exchange(true, std::memory_order_acquire));
  }
  void release_latch() noexcept { latch_.store(false, std::memory_order_release); }

  /// Between two looks at what another thread is about to write; it may need this CPU.
  static void pause(unsigned looks) noexcept {
    if (looks % 64 != 0)
      cpu_relax();
    else
      parking::yield();
  }

  alignas(cache_line) std::atomic<mpsc_hook*> tail_{&stub_};  ///< the producers' line

 protected:  // so that a test can hold it
  std::atomic<bool> latch_{false};

 private:
  alignas(cache_line) mpsc_hook* head_ = &stub_;  ///< the consumer's line
  mpsc_hook stub_;
};

namespace detail {

/// About 1 KiB of memory for values in queues. Each thread takes entries from a block of its own,
/// whichever queue of T they go to, and from a new one when none is left; consumers give them back.
/// Whoever gives back the last one frees the block: nobody can come for another then.
template <class T>
class value_block {
 public:
  struct entry : mpsc_hook {
    entry(value_block& where, T&& what) noexcept : home(where), value(std::move(what)) {}
    value_block& home;
    T value;
  };

  static constexpr std::size_t entries = std::max<std::size_t>(1000 / sizeof(entry), 1);

  value_block(const value_block&) = delete;
  value_block& operator=(const value_block&) = delete;

  /// The next entry of the calling thread. Throws what `new` throws, and has done nothing then.
  static entry& make(T&& value) {
    if (mine_.block == nullptr) open();
    value_block& block = *mine_.block;
    std::byte* const place = block.memory_ + mine_.taken * sizeof(entry);
    if (++mine_.taken == entries) mine_.block = nullptr;
    return *::new (place) entry(block, std::move(value));
  }

  /// Destroys an entry that make() returned. Any thread.
  static void destroy(entry& done) noexcept {
    value_block& home = done.home;
    done.~entry();
    home.give_back(1);
  }

 private:
  /// What the calling thread takes entries from.
  struct place {
    value_block* block;  ///< null: none is left
    std::size_t taken;
    bool ended;  ///< the thread has given back what it did not take
  };
  struct at_thread_exit {
    ~at_thread_exit() {
      mine_.ended = true;
      if (value_block* const block = std::exchange(mine_.block, nullptr))
        block->give_back(entries - mine_.taken);
    }
  };

  explicit value_block(std::size_t usable) noexcept : left_(usable) {}

  [[gnu::noinline]] static void open() {
    static thread_local at_thread_exit registered;
    // Nobody would give back the rest of a block that is opened later than that: so it has none.
    const std::size_t usable = mine_.ended ? 1 : entries;
    mine_.block = new value_block(usable);
    mine_.taken = entries - usable;
  }

  /// Each entry is given back once, taken or not. Acquire and release: what was done with any of
  /// them is over when the last one ends the block.
  void give_back(std::size_t count) noexcept {
    if (left_.fetch_sub(count, std::memory_order_acq_rel) == count) delete this;
  }

  static inline constinit thread_local place mine_{nullptr, 0, false};

  std::atomic<std::size_t> left_;  ///< entries that are not given back
  alignas(entry) std::byte memory_[entries * sizeof(entry)];
};

}  // namespace detail

/// A queue of values. T is nothrow move constructible.
///
/// Memory comes in blocks of about 1 KiB, 41 pointers each (and one value each where that is all
/// that fits), so that push and try_pop seldom meet in the allocator. A value takes 16 bytes and
/// alignment more than itself. A thread that has pushed keeps the block that it is at until it
/// ends, one for each T; and a block stays as long as one of its values waits in any queue, so a
/// value that is left behind may hold 1 KiB. Consumers of queues that one thread pushes to by turns
/// share its blocks' counts, a cache line each.
template <class T, class Htm = htm::hardware>
class mpsc_queue {
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "try_pop() moves the value out of a node that has left the queue already");

 public:
  mpsc_queue() = default;
  mpsc_queue(const mpsc_queue&) = delete;
  mpsc_queue& operator=(const mpsc_queue&) = delete;
  ~mpsc_queue() {
    while (entry* const left = entries_.try_pop()) block::destroy(*left);
  }

  /// Appends `value`. Any thread. Allocates now and then; throws what that throws, and has done
  /// nothing then.
  void push(T value) { entries_.push(block::make(std::move(value))); }

  /// Takes the first value, if there is one. As intrusive_mpsc_queue::try_pop(), and one atomic
  /// instruction more. The consumer only.
  std::optional<T> try_pop() {
    entry* const first = entries_.try_pop();
    if (first == nullptr) return std::nullopt;
    std::optional<T> value(std::move(first->value));
    block::destroy(*first);
    return value;
  }

  /// As intrusive_mpsc_queue::empty().
  bool empty() const noexcept { return entries_.empty(); }

 private:
  using block = detail::value_block<T>;
  using entry = typename block::entry;

  intrusive_mpsc_queue<entry, Htm> entries_;
};

}  // namespace unlatch
