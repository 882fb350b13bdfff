// SPDX-License-Identifier: Apache-2.0
//
// Why transactions aborted, in words: the simulator's blame records with their addresses turned
// into lines of source and names of variables.
#pragma once

#include <nlohmann/json.hpp>

#include "src/lab/lab.hpp"

namespace unlatch::studies {

/// {"conflicts": […], "capacities": […], "others": […]}, each list by wasted cycles, the costliest
/// first, at most 20 of each:
///
///   conflict: owner and requester ({"line", "function", "access"}), object, sharing ("true" or
///             "false": whether they wanted a byte in common), count, wasted_cycles
///   capacity: line, function, set, lines_in_set, count, wasted_cycles
///   other:    reason, line, function, count, wasted_cycles
[[nodiscard]] nlohmann::json blame_of(const lab::blame_lists& blame);

}  // namespace unlatch::studies
