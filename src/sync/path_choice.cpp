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
      period_ = period::trying_software;
      path_.store(path::software, std::memory_order_relaxed);
      return trial;
    case period::trying_software:
      software_ticks_ = ticks;
      period_ = period::trying_direct;
      path_.store(path::direct, std::memory_order_relaxed);
      return trial;
    case period::trying_direct:
      break;
  }
  const float measured = std::clamp(std::log2(software_ticks_ / ticks), -2.0f, 2.0f);
  log_ratio_ += (measured - log_ratio_) * (run_ == 0 ? 1.0f : 0.25f);
  const path verdict = log_ratio_ < 0 ? path::software : path::direct;
  run_ = verdict == verdict_ && run_ != 0 ? std::min(run_ * 2, longest) : first_run;
  verdict_ = verdict;
  period_ = period::running;
  path_.store(verdict, std::memory_order_relaxed);
  return run_;
}

}  // namespace unlatch::detail
