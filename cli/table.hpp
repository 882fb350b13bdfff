// SPDX-License-Identifier: Apache-2.0
//
// A study's summary as a table for a terminal.
#pragma once

#include <span>
#include <string>

#include "studies/summary.hpp"

namespace unlatch::cli {

/// One line a mode and cell: median throughput with its least and most, speed-up against the
/// baseline with its least and most, the A/A control, and the verdict. Simulated figures are
/// labelled as such.
[[nodiscard]] std::string to_table(std::span<const studies::summary_row> rows);

}  // namespace unlatch::cli
