// SPDX-License-Identifier: Apache-2.0
//
// What an elided lock keeps beside the lock: where it is counted, what its owner has to do, and the
// sequence that readers without the lock go by (elide.hpp).
//
// Thread safety: the exclusive owner of the lock writes; anybody reads.
//
// Invariant: the sequence is even only if software speculation is on for this lock and nobody holds
// it exclusively. It is odd from the first instruction of an exclusive section to its last, so a
// speculating reader that sees one even value twice saw no writer in between. It is maintained only
// once elide() asked for it; until then it stays odd, and a lock costs nothing more than a look at
// state_.
//
//   state_ | bits | meaning
//   -------+------+--------------------------------------------------------------------
//          | 0-15 | the lock's row in the statistics; never changes
//          |  16  | keep the sequence: software speculation is on
//          |  17  | actions wait in the owner's section_context for its unlock
//          |  18  | bit 16 has been set once: unlinked objects are freed after a grace period
#pragma once

#include <atomic>
#include <cstdint>

#include "unlatch/access.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::detail {

class lock_state {
 public:
  constexpr lock_state() noexcept = default;
  explicit lock_state(row_id row) noexcept : state_(row) {}

  row_id row() const noexcept { return static_cast<row_id>(load()); }
  /// Whether the row is `row` and its owner has nothing to do.
  bool is_plain(row_id row) const noexcept { return (load() & ~has_speculated) == row; }
  /// Whether the owner has something to do when it releases the lock.
  bool wants_attention() const noexcept { return load() & (sequence_kept | has_deferred); }

  bool keeps_sequence() const noexcept { return load() & sequence_kept; }
  /// Turns software speculation on or off. Off, the sequence stays odd, so speculations that are
  /// under way fail.
  void keep_sequence(bool on) noexcept {
    const std::uint32_t others = load() & ~sequence_kept;
    store(on ? others | sequence_kept | has_speculated : others);
  }
  /// Whether a speculation may still see what the owner unlinks.
  bool may_have_speculators() const noexcept { return load() & has_speculated; }

  bool defers() const noexcept { return load() & has_deferred; }
  void set_deferred() noexcept { store(load() | has_deferred); }
  void clear_deferred() noexcept { store(load() & ~has_deferred); }

  std::uint64_t sequence() const noexcept { return sequence_.load(std::memory_order_acquire); }
  bool sequence_is(std::uint64_t expected) const noexcept {
    return sequence_.load(std::memory_order_relaxed) == expected;
  }
  /// From even to odd: readers that look after this fail.
  void begin_writing() noexcept {
    sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    store_store_fence();
  }
  /// From odd to even.
  void end_writing() noexcept {
    sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t sequence_kept = 1u << 16;
  static constexpr std::uint32_t has_deferred = 1u << 17;
  static constexpr std::uint32_t has_speculated = 1u << 18;

  std::uint32_t load() const noexcept { return state_.load(std::memory_order_relaxed); }
  void store(std::uint32_t state) noexcept { state_.store(state, std::memory_order_relaxed); }

  std::atomic<std::uint64_t> sequence_{1};
  std::atomic<std::uint32_t> state_{0};
};

}  // namespace unlatch::detail
