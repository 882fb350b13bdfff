// SPDX-License-Identifier: Apache-2.0
//
// Whether the sections of a lock run by speculation or under the lock: whichever is faster now,
// found by measuring. The closures of elide() ask where there are no hardware transactions,
// elided<> with a policy that is `measured` asks where there are.
//
// Sections come in periods. Two short ones, `trial` sections each, measure the two paths one after
// the other; then a long one runs on the path that has been faster. Measured is from the first
// section's start to the last one's end, so waiting, aborts, reclamation and what a path does to
// the caches of the code between sections all count. What the last three comparisons have in their
// middle decides: a trial in which the thread was preempted is outvoted.
//
// What looking costs: the time that the slower path's trial takes longer. A trial goes in steps and
// ends as soon as it is twice as slow as the other path. Long periods are so long that trials cost
// 1 % of their time, at least `longest` sections, once three comparisons agree; a change is noticed
// at the end of a period.
//
// All threads take the same path at the same time, because the paths get in each other's way: one
// thread alone in software would measure how long it waits for the others' locks, find that slow,
// and stay under the lock although all of them would be faster without. So one thread at a time
// drives a lock's choice and measures itself in each period; when it has not been heard of for
// `silence` ticks, another takes over.
//
// Thread safety: any thread. Locks of one name share a choice; what a section reads of it (path_)
// is written once a period. Cost a section: a thread-local decrement, and a load of a line that
// stays in the cache.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "unlatch/platform.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::detail {

/// Undecided: nothing has been measured yet.
enum class path : std::uint8_t { undecided, direct, speculative };

class alignas(cache_line) path_choice {
 public:
  static constexpr std::uint32_t trial = 64;
  static constexpr std::uint32_t step = 16;
  static constexpr std::uint32_t first_run = 512;
  static constexpr std::uint32_t longest = 8192;
  static constexpr std::uint64_t silence = 100'000'000;

  /// The choice for the locks of a name.
  static path_choice& of(row_id lock) noexcept;

  /// The path of a section that begins now.
  path now() const noexcept { return path_.load(std::memory_order_relaxed); }

  /// To be called at the end of each section; `row` is where the calling thread counts it.
  void section_ended(thread_row& row) noexcept {
    std::uint32_t& left = sections_left(row);
    if (left <= 1) [[unlikely]]
      next_period(row);
    else
      --left;
  }

 private:
  enum class period : std::uint8_t { none, trying_speculation, trying_direct, running };

  /// Sections of this thread and row until it looks here again.
  static std::uint32_t& sections_left(thread_row& row) noexcept {
    return *std::launder(reinterpret_cast<std::uint32_t*>(row.software_memory.data()));
  }

  void next_period(thread_row& row) noexcept;
  std::uint32_t begin_period(std::uint64_t now) noexcept;
  std::uint32_t begin_trial(period which, path to_try) noexcept;
  bool trial_goes_on(std::uint64_t now, float& ticks, float other) noexcept;
  std::uint32_t decide() noexcept;
  float middle_ratio() const noexcept;

  std::atomic<path> path_{path::undecided};
  std::atomic<bool> busy_{false};  ///< a thread is in next_period(): it owns all below
  period period_ = period::none;
  std::uint32_t tried_ = 0;           ///< sections of the current trial that were measured
  float speculation_ticks_ = 0;       ///< of a section in the last trial; 0: none yet
  float direct_ticks_ = 0;            ///< the same under the lock
  std::uint32_t comparisons_ = 0;     ///< made so far
  std::array<float, 3> recent_ = {};  ///< speculation / direct, the last ones
  std::uint64_t started_ = 0;         ///< when the current period began
  const thread_row* driver_ = nullptr;
};

extern path_choice path_choices[max_rows];

inline path_choice& path_choice::of(row_id lock) noexcept { return path_choices[lock]; }

}  // namespace unlatch::detail
