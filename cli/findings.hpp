// SPDX-License-Identifier: Apache-2.0
//
// What records tell beside throughput, as text for a terminal: figures, curves, and why
// transactions aborted.
#pragma once

#include <span>
#include <string>

#include "studies/record.hpp"

namespace unlatch::cli {

/// A paragraph for each record that has `figures`, `series` or `blame`; empty if none has.
/// Simulated figures are labelled as such.
[[nodiscard]] std::string to_findings(std::span<const studies::record> records);

}  // namespace unlatch::cli
