// SPDX-License-Identifier: Apache-2.0
//
// Why transactions aborted, in words: the simulator's blame records with their addresses turned
// into lines of source and names of variables.
#pragma once

#include <nlohmann/json.hpp>

#include "src/lab/lab.hpp"

namespace unlatch::studies {

/// {"conflicts": […], "capacities": […], "others": […]}, each list by wasted cycles, the costliest
/// first, at most 20 of each. docs/records.md describes the entries. Instructions of the same lines
/// make one entry.
[[nodiscard]] nlohmann::json blame_of(const lab::blame_lists& blame);

}  // namespace unlatch::studies
