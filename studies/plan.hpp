// SPDX-License-Identifier: Apache-2.0
//
// From what was asked for to the order in which cells run.
//
// A round is one (repeat, case, threads): the baseline, every other mode with each of its policies,
// and the baseline again as the A/A control, back to back. Rounds of one repeat come before those
// of the next. The order within a round rotates by one place a repeat, so that no mode always runs
// first, on a cold machine, or always after the same neighbour. On a machine model there is no
// noise: a round has no control and one order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/lab/model_file.hpp"
#include "studies/study.hpp"

namespace unlatch::studies {

/// What to run of a study; what is left empty takes the study's own.
struct request {
  std::vector<std::string> cases{};
  std::vector<std::string> modes{};     ///< the baseline always runs as well
  std::vector<std::string> policies{};  ///< for the modes that elide
  std::vector<unsigned> threads{};
  std::optional<unsigned> repeats{};    ///< 7, or 3 when quick; 1 on a machine model
  std::uint64_t seed = 1;               ///< the first repeat's; each later one adds 1
  std::vector<std::string> params{};    ///< "name=value"
  bool quick = false;                   ///< the parameters' quick values
  std::optional<lab::model_file> on{};  ///< the machine to simulate; without it, this one
  bool blame = false;                   ///< say what made transactions abort; needs `on`
  std::uint64_t virtual_limit_ms = 0;   ///< of every cell; 0: the usual one; needs `on`
};

struct plan {
  const study* what = nullptr;
  std::vector<cell> cells{};            ///< in the order to run them
  std::optional<lab::model_file> on{};  ///< the simulated machine, if it is one
  bool blame = false;                   ///< simulated cells say what made transactions abort
};

/// Why `mode` cannot run on `on` (this machine if there is none); empty if it can.
[[nodiscard]] std::string why_not(const study_mode& mode, const std::optional<lab::model_file>& on);

/// On a machine model, runs are exact for their seed: one repeat and no control unless told
/// otherwise, the parameters' simulated values, and threads from 1 to all CPUs in powers of two.
///
/// Throws unknown_name for a case, mode, policy or parameter that the study does not have, and
/// std::invalid_argument for a value out of its range, a mode that cannot run on this machine, or a
/// policy that no chosen mode takes.
/// `what` must outlive the plan.
[[nodiscard]] plan make_plan(const study& what, const request& asked);

/// The command line that runs one cell again, beside its baseline.
[[nodiscard]] std::string rerun_command(const study& what, const cell& one,
                                        const std::optional<lab::model_file>& on = {});

}  // namespace unlatch::studies
