// SPDX-License-Identifier: Apache-2.0
//
// Whether a call site's sections run by software speculation or under the lock: whichever is faster
// for this thread now, found by measuring.
//
// Sections come in periods. Two short ones, `trial` sections each, measure the two paths one after
// the other, from the first section's start to the last one's end, so that waiting, aborts,
// reclamation and what a path does to the caches of the code between sections all count. The
// logarithm of their ratio goes into a moving average; its sign decides how the next, long period
// runs. Long periods double while the verdict stays, up to `longest`, so the cost of looking is at
// most 2 * trial / longest = 1.6 % of the time lost on the slower path, and a change is noticed
// within `longest` sections.
//
// A trial that was interrupted (the thread was preempted) counts at most a factor 4.
//
// Per thread and call site: nothing here is shared. One decrement and a branch a section; two reads
// of the time-stamp counter a trial.
#pragma once

#include <cstdint>
#include <new>

#include "unlatch/platform.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::detail {

enum class path : std::uint8_t { software, direct };

class path_choice {
 public:
  static constexpr std::uint32_t trial = 64;
  static constexpr std::uint32_t first_run = 512;
  static constexpr std::uint32_t longest = 8192;

  /// The choice kept in a thread's row; it starts out as zeros.
  static path_choice& of(thread_row& row) noexcept {
    static_assert(sizeof(path_choice) <= sizeof(row.software_memory));
    return *std::launder(reinterpret_cast<path_choice*>(row.software_memory.data()));
  }

  /// The path of the section that begins now.
  path next() noexcept {
    if (left_ == 0) [[unlikely]]
      next_period();
    --left_;
    return path_;
  }

 private:
  enum class period : std::uint8_t { none, trying_software, trying_direct, running };

  void next_period() noexcept;

  std::uint64_t started_;  ///< when the current trial began
  float software_ticks_;   ///< of the last software trial
  float log_ratio_;        ///< moving average of log2(software / direct)
  std::uint32_t left_;     ///< sections left in this period
  std::uint32_t run_;      ///< length of the last long period
  period period_;
  path path_;
  path verdict_;
};

}  // namespace unlatch::detail
