// SPDX-License-Identifier: Apache-2.0
#include "unlatch/path_choice.hpp"

#include <algorithm>

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
  switch (period_) {
    case period::trying_speculation:
      if (trial_goes_on(now, speculation_ticks_, direct_ticks_)) return step;
      started_ = now;
      return begin_trial(period::trying_direct, path::direct);
    case period::trying_direct:
      if (trial_goes_on(now, direct_ticks_, speculation_ticks_)) return step;
      started_ = now;
      return decide();
    default:
      started_ = now;
      return begin_trial(period::trying_speculation, path::speculative);
  }
}

std::uint32_t path_choice::begin_trial(period which, path to_try) noexcept {
  period_ = which;
  tried_ = 0;
  path_.store(to_try, std::memory_order_relaxed);
  return step;
}

/// Measures what the trial has taken a section so far. `other` is what the other path takes.
bool path_choice::trial_goes_on(std::uint64_t now, float& ticks, float other) noexcept {
  tried_ += step;
  ticks =
      static_cast<float>(std::max<std::uint64_t>(now - started_, 1)) / static_cast<float>(tried_);
  const bool is_clear = other != 0 && ticks > 2 * other;
  return tried_ < trial && !is_clear;
}

std::uint32_t path_choice::decide() noexcept {
  recent_[comparisons_++ % recent_.size()] = speculation_ticks_ / direct_ticks_;
  const float ratio = middle_ratio();
  const bool speculate = ratio < 1;
  const bool agreed =
      comparisons_ >= recent_.size() &&
      std::ranges::all_of(recent_, [&](float one) { return (one < 1) == speculate; });
  const float slower = std::min(speculate ? 1 / ratio : ratio, 32.0f) - 1;  // the other's trial
  const auto length = std::max(longest, static_cast<std::uint32_t>(100 * trial * slower));
  period_ = period::running;
  path_.store(speculate ? path::speculative : path::direct, std::memory_order_relaxed);
  return agreed ? length : first_run;
}

float path_choice::middle_ratio() const noexcept {
  auto sorted = recent_;
  const std::uint32_t count = std::min<std::uint32_t>(comparisons_, sorted.size());
  std::sort(sorted.begin(), sorted.begin() + count);
  return sorted[(count - 1) / 2];
}

}  // namespace unlatch::detail
