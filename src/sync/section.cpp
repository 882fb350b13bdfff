// SPDX-License-Identifier: Apache-2.0
#include "unlatch/section.hpp"

#include <memory>

namespace unlatch::detail {

constinit thread_local section_context thread_section;

std::vector<deferred_action>& section_context::make_actions() {
  static thread_local std::unique_ptr<std::vector<deferred_action>> owner;
  owner = std::make_unique<std::vector<deferred_action>>();
  owner->reserve(16);
  actions_ = owner.get();
  return *actions_;
}

// An action may enter sections and defer again, so one is taken out at a time and the list looked
// at anew.

void section_context::run_deferred(const void* lock) noexcept {
  for (std::size_t i = 0; i < deferred_count();) {
    if ((*actions_)[i].lock() != lock) {
      ++i;
      continue;
    }
    deferred_action action = (*actions_)[i];
    actions_->erase(actions_->begin() + static_cast<std::ptrdiff_t>(i));
    action.run();
    i = 0;
  }
}

void section_context::commit_kept_now() noexcept {
  const commit_function commit = kept_;
  kept_ = nullptr;
  --nesting_;
  commit(first_);
  run_deferred_if_outermost();
}

void section_context::drop(std::size_t kept) noexcept {
  while (actions_->size() > kept) {
    actions_->back().drop();
    actions_->pop_back();
  }
}

}  // namespace unlatch::detail
