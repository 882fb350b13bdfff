// SPDX-License-Identifier: Apache-2.0
#include "unlatch/path_choice.hpp"

#include <algorithm>
#include <cmath>

namespace unlatch::detail {

void path_choice::next_period() noexcept {
  const std::uint64_t now = timestamp();
  const auto ticks = static_cast<float>(std::max<std::uint64_t>(now - started_, 1));
  started_ = now;
  switch (period_) {
    case period::none:
    case period::running:
      period_ = period::trying_software;
      path_ = path::software;
      left_ = trial;
      break;
    case period::trying_software:
      software_ticks_ = ticks;
      period_ = period::trying_direct;
      path_ = path::direct;
      left_ = trial;
      break;
    case period::trying_direct: {
      const float measured = std::clamp(std::log2(software_ticks_ / ticks), -2.0f, 2.0f);
      log_ratio_ += (measured - log_ratio_) * (run_ == 0 ? 1.0f : 0.25f);
      const path verdict = log_ratio_ < 0 ? path::software : path::direct;
      run_ = verdict == verdict_ && run_ != 0 ? std::min(run_ * 2, longest) : first_run;
      verdict_ = verdict;
      period_ = period::running;
      path_ = verdict;
      left_ = run_;
      break;
    }
  }
}

}  // namespace unlatch::detail
