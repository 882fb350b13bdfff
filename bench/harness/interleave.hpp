// SPDX-License-Identifier: Apache-2.0
//
// Comparing peers by taking turns: a round gives every peer one short window, back to back, and a
// ratio is taken within its round, so that what drifts (clock rate, a neighbour on the machine)
// meets both sides. The order rotates by one place a round and turns round every other one, so that
// nobody always runs after the same neighbour.
//
// A window is disturbed when one of its threads waited for a CPU although there are enough: another
// process had it. Disturbed windows run again a few times; then the least disturbed one stays.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/harness/workers.hpp"

namespace unlatch::bench {

/// One side of a comparison.
struct peer {
  std::string name;
  work what;
};

/// What is appended to the name of a peer that runs a second time in every round.
inline constexpr std::string_view control_suffix = "-control";

/// The peer itself, once more: what the ratio of the two says is noise.
[[nodiscard]] peer control_of(const peer& one);

struct timing {
  unsigned rounds = 9;
  std::chrono::microseconds window{30'000};
  unsigned attempts = 5;         ///< at a window that is disturbed
  double disturbed_from = 0.03;  ///< share of a window that a thread waited for a CPU
};

/// The windows of one cell: `windows[peer][round]`.
struct comparison {
  std::vector<std::string> names;
  std::vector<std::vector<window>> windows;
  unsigned run_again = 0;       ///< windows thrown away and repeated
  unsigned kept_disturbed = 0;  ///< windows that stayed disturbed

  /// The place of a peer; throws std::invalid_argument for an unknown name.
  [[nodiscard]] std::size_t index_of(std::string_view name) const;
};

/// Runs all peers on `threads` threads.
[[nodiscard]] comparison interleave(workers& threads_to_use, unsigned threads,
                                    std::span<const peer> peers, const timing& how);

/// Median and quartiles.
struct quartiles {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

/// Throws std::invalid_argument if there are no values.
[[nodiscard]] quartiles quartiles_of(std::vector<double> values);

/// Operations a second of one peer.
[[nodiscard]] quartiles rate(const comparison& all, std::string_view name);

/// rate(one) / rate(other), paired by round.
[[nodiscard]] quartiles ratio(const comparison& all, std::string_view one, std::string_view other);

/// The name with the highest median rate.
[[nodiscard]] const std::string& fastest(const comparison& all, std::span<const std::string> names);

}  // namespace unlatch::bench
