// SPDX-License-Identifier: Apache-2.0
//
// Making a schedule that goes wrong shorter, so that what matters of it can be read.
#pragma once

#include <functional>

#include "src/lab/explore/schedule.hpp"

namespace unlatch::lab::exploring {

/// Leaves deviations of `failing` out, more and more finely (delta debugging: Zeller, Hildebrandt,
/// 2002), as long as `still_fails` holds. Tries at most `tries` schedules. Returns the shortest
/// that fails.
schedule shrink(schedule failing, std::uint32_t tries,
                const std::function<bool(const schedule&)>& still_fails);

}  // namespace unlatch::lab::exploring
