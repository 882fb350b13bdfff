// SPDX-License-Identifier: Apache-2.0
//
// A schedule: its deviations from the default, in the order of their steps. As text, "57>2 90!0x6":
// at step 57 thread 2 goes on, at step 90 the transaction aborts with status 0x6.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/lab/explore/board.hpp"

namespace unlatch::lab::exploring {

using schedule = std::vector<deviation>;

std::string to_text(const schedule& what);

/// Throws std::invalid_argument, saying where, if `text` is not a schedule.
schedule parse_schedule(std::string_view text);

/// The schedule that the board's last child took, a line a deviation, with the places in the
/// source.
std::string tell(const board& last);

}  // namespace unlatch::lab::exploring
