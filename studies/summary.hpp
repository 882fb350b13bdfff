// SPDX-License-Identifier: Apache-2.0
//
// What a set of records says: medians, speed-ups within rounds, the A/A control and a verdict.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "studies/record.hpp"

namespace unlatch::studies {

/// The median of a set and how far it spreads.
struct spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

/// Throws std::invalid_argument if there are no values.
[[nodiscard]] spread spread_of(std::vector<double> values);

enum class verdict { gains, equal, loses };

/// A mode whose ratio to the baseline is below the first loses, above the second it gains.
inline constexpr double losing_ratio = 0.97;
inline constexpr double gaining_ratio = 1.03;

[[nodiscard]] verdict judge(double speedup);
[[nodiscard]] std::string_view to_string(verdict value);  ///< "gains", "equal", "LOSES"

/// One mode in one cell over all repeats.
struct summary_row {
  std::string study;
  std::string where;
  std::string case_name;
  std::map<std::string, std::uint64_t> params;
  unsigned threads = 1;
  std::string mode;
  std::string policy;
  unsigned repeats = 0;
  spread throughput;                       ///< operations a second
  std::optional<spread> speedup;           ///< to the baseline, paired by repeat; not for itself
  std::optional<spread> control;           ///< the baseline's second run to its first
  std::optional<double> context_switches;  ///< median
  std::optional<verdict> outcome;          ///< judge(speedup->median)
};

/// One row a (study, where, case, params, threads, mode, policy), in the order in which these first
/// appear. Control runs make no row of their own but stand in every row of their cell.
[[nodiscard]] std::vector<summary_row> summarize(std::span<const record> records);

[[nodiscard]] nlohmann::json to_json(const summary_row& row);

}  // namespace unlatch::studies
