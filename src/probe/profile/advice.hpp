// SPDX-License-Identifier: Apache-2.0
//
// What to do about a lock, from what it and its sections were seen to do.
//
// Thread safety: no shared state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/lab/model.hpp"
#include "src/probe/profile/read_recording.hpp"
#include "src/probe/profile/sections.hpp"

namespace unlatch::probe {

enum class advice_kind : std::uint8_t {
  elide,
  pad,       ///< give what is written on one line lines of its own
  split,     ///< make sections smaller
  move_out,  ///< do something before or after the section
  leave_alone,
  unknown,  ///< too little is known
};

struct advice {
  advice_kind kind{};
  std::string reason;  ///< half a sentence, with figures
  /// elide: how many threads fewer would wait, on average over the run; else 0.
  double threads_gained = 0;
};

/// What the advice is about.
struct lock_facts {
  const use_totals& use;
  const section_summary& sections;
  double ticks_per_us;
  double run_ticks;  ///< how long the program ran
};

/// Advice for a machine like `machine`, the most important first; never empty.
///
/// The model of the gain: a section commits unless it does something that aborts, overflows the
/// cache, is interrupted, or meets another one that it conflicts with, as often as the lock was
/// contended. What commits does not wait; what does not has run for nothing before it takes the
/// lock.
[[nodiscard]] std::vector<advice> advise(const lock_facts& facts, const lab::model& machine);

[[nodiscard]] std::string_view name_of(advice_kind kind);

}  // namespace unlatch::probe
