// SPDX-License-Identifier: Apache-2.0
#include "unlatch/section.hpp"

#include <memory>

#include "unlatch/statistics.hpp"

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
  if ((nesting_ & takes_in) != 0) count_for(open_[0].row);
  // One section less; the flag and the places go.
  nesting_ = static_cast<std::uint32_t>(nesting_ - 1) & ~takes_in;
  commit(first_);
  run_deferred_if_outermost();
}

void section_context::end_joining() noexcept {
  if (open_count() == 1) return commit_kept_now();
  // The last closure has left a section open, in which others run until it is closed.
  count_for(open_[0].row);
  nesting_ = static_cast<std::uint32_t>(nesting_) & ~takes_in;
}

/// Counts the sections that have joined since the last time, which were all of one row; the next
/// one will be of `row`.
void section_context::count_for(std::uint16_t row) noexcept {
  using statistics::counter;
  const auto places = static_cast<unsigned>(nesting_ >> places_at);
  const unsigned sections = not_counted_from_ - places;
  not_counted_from_ = places;
  thread_row& counts = this_thread_row(open_[0].row);
  for (const counter one : {counter::sections, counter::elided, counter::coarsened})
    counts.add(one, sections);
  open_[0].row = row;
}

void section_context::drop(std::size_t kept) noexcept {
  while (actions_->size() > kept) {
    actions_->back().drop();
    actions_->pop_back();
  }
}

}  // namespace unlatch::detail
