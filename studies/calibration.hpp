// SPDX-License-Identifier: Apache-2.0
//
// Whether a machine model reproduces the published measurements that its constants were fitted to.
// What it was not fitted to stands in validation.hpp.
#pragma once

#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "studies/lab_program.hpp"

namespace unlatch::studies {

/// How far a simulated figure may be from the published one.
struct tolerance {
  /// The larger of the two divided by the smaller, at most. 1: they must agree.
  double factor = std::numeric_limits<double>::infinity();
};

struct calibration_row {
  lab::calibration_figure published;
  double simulated = 0;
  tolerance allowed;

  [[nodiscard]] double error() const { return simulated / published.value - 1; }
  [[nodiscard]] bool within() const;
};

/// 5 % for cycles, a factor of 1.5 for shares, none for counts of lines and transactions.
[[nodiscard]] tolerance tolerance_of(const lab::calibration_figure& figure);

/// Simulates everything that the model's calibration figures name. Calls `next` with each figure's
/// name before it is measured. Throws study_error, also for a figure that no study measures, and
/// `interrupted`.
[[nodiscard]] std::vector<calibration_row> check_calibration(
    const lab::model_file& model, const lab_program& lab, const std::stop_token& stop,
    const std::function<void(const std::string&)>& next = {});

}  // namespace unlatch::studies
