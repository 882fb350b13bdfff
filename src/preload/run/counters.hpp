// SPDX-License-Identifier: Apache-2.0
//
// Which row of the statistics a lock is counted in, and the calling thread's counters, in the
// memory shared with `unlatch run`.
//
// A lock's row is in the lock (layout.hpp), so finding it costs a load:
//
//   value        | meaning
//   -------------+------------------------------------------------------------------------------
//   0 … 31       | taken so many times; counted in the row of those that were taken a few times
//   32 + row     | counted in that row; for a moment the row of few, while it gets one
//
// Rows are few, so locks that live for a few sections get none, and once most are given away the
// next are for all locks that are first counted at one call site.
//
// Thread safety: any thread. In a child of fork() call counters_after_fork() first.
#pragma once

#include <atomic>
#include <cstdint>

#include "src/probe/lock_run_area.hpp"

namespace unlatch::preload {

inline constexpr std::uint32_t sections_before_row = 32;

/// Where the counters are from now on.
void set_area(probe::lock_run_area& area) noexcept;
probe::lock_run_area& area() noexcept;

/// A row for the lock at `lock`, taken at `site`; row_of_few if another thread asks at the moment.
/// Reads /proc/self/maps, tens of microseconds.
detail::row_id give_row(const void* lock, const void* site) noexcept;

/// The row that the lock's own word says.
template <class Word>
detail::row_id known_row(const std::atomic<Word>& word) noexcept {
  const auto value = static_cast<std::uint32_t>(word.load(std::memory_order_relaxed));
  return value < sections_before_row ? probe::lock_run_area::row_of_few
                                     : static_cast<detail::row_id>(value - sections_before_row);
}

/// The row of a lock that is about to be taken at `site`; gives it one if it is time. Not in
/// a transaction.
template <class Word>
detail::row_id row_for(std::atomic<Word>& word, const void* lock, const void* site) noexcept {
  constexpr Word last_count = sections_before_row - 1;
  constexpr Word few = sections_before_row + probe::lock_run_area::row_of_few;
  Word value = word.load(std::memory_order_relaxed);
  if (value > last_count) [[likely]]
    return static_cast<detail::row_id>(value - sections_before_row);
  const bool is_time = value == last_count;
  const Word next = is_time ? few : static_cast<Word>(value + 1);
  const bool mine = word.compare_exchange_strong(value, next, std::memory_order_relaxed);
  if (!is_time || !mine) return probe::lock_run_area::row_of_few;
  const detail::row_id row = give_row(lock, site);
  const bool has_row = row != probe::lock_run_area::row_of_few;
  word.store(has_row ? static_cast<Word>(sections_before_row + row) : last_count,
             std::memory_order_relaxed);
  return row;
}

/// Notes that this process starts or ends counting for the calling thread only: it has become
/// another process's.
void counters_after_fork() noexcept;

/// Counts a section of a lock that is not served, or such a lock's initialization.
void count_refused_section(probe::not_served because) noexcept;
void count_refused_lock(probe::not_served because) noexcept;

}  // namespace unlatch::preload
