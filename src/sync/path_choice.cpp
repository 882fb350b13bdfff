// SPDX-License-Identifier: Apache-2.0
#include "unlatch/path_choice.hpp"

#include <algorithm>
#include <cmath>

namespace unlatch::detail {

constinit path_choice path_choices[max_rows];

void path_choice::next_period(thread_row& row) noexcept {
  sections_left(row) = first_run;  // unless this thread turns out to be the driver
  if (busy_.exchange(true, std::memory_order_acquire)) return;
  const std::uint64_t now = timestamp();
  if (driver_ != &row && (driver_ == nullptr || now - started_ > silence)) {
    driver_ = &row;
    period_ = period::none;
  }
  if (driver_ == &row) sections_left(row) = begin_period(now);
  busy_.store(false, std::memory_order_release);
}

std::uint32_t path_choice::begin_period(std::uint64_t now) noexcept {
  const auto ticks = static_cast<float>(std::max<std::uint64_t>(now - started_, 1));
  started_ = now;
  switch (period_) {
    case period::none:
    case period::running:
      period_ = period::trying_speculation;
      path_.store(path::speculative, std::memory_order_relaxed);
      return trial;
    case period::trying_speculation:
      speculation_ticks_ = ticks;
      period_ = period::trying_direct;
      path_.store(path::direct, std::memory_order_relaxed);
      return trial;
    case period::trying_direct:
      break;
  }
  recent_[comparisons_++ % recent_.size()] = std::log2(speculation_ticks_ / ticks);
  const float ratio = log_ratio();
  const path verdict = ratio < 0 ? path::speculative : path::direct;
  const float slower = std::exp2(std::min(std::abs(ratio), 5.0f)) - 1;  // the other path's trial
  const auto longest_run = std::max(longest, static_cast<std::uint32_t>(100 * trial * slower));
  const bool is_sure = verdict == verdict_ && comparisons_ >= recent_.size();
  run_ = is_sure ? std::min(run_ * 2, longest_run) : first_run;
  verdict_ = verdict;
  period_ = period::running;
  path_.store(verdict, std::memory_order_relaxed);
  return run_;
}

float path_choice::log_ratio() const noexcept {
  auto sorted = recent_;
  const std::uint32_t count = std::min<std::uint32_t>(comparisons_, sorted.size());
  std::sort(sorted.begin(), sorted.begin() + count);
  return sorted[(count - 1) / 2];
}

}  // namespace unlatch::detail
