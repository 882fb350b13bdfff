// SPDX-License-Identifier: Apache-2.0
#include "unlatch/section.hpp"

namespace unlatch::detail {

section_context& this_section() noexcept {
  static thread_local section_context context;
  return context;
}

void section_context::run_deferred(const void* lock) {
  // An action may enter sections and defer again, so take one out at a time and look anew.
  for (std::size_t i = 0; i < deferred_.size();) {
    if (deferred_[i].lock() != lock) {
      ++i;
      continue;
    }
    deferred_action action = deferred_[i];
    deferred_.erase(deferred_.begin() + static_cast<std::ptrdiff_t>(i));
    action.run();
    i = 0;
  }
}

void section_context::run_all() {
  while (!deferred_.empty() && open_count_ == 0 && closure_depth_ == 0) {
    deferred_action action = deferred_.front();
    deferred_.erase(deferred_.begin());
    action.run();
  }
}

}  // namespace unlatch::detail
