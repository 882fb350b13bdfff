// SPDX-License-Identifier: Apache-2.0
//
// Published measurements that no constant of a model was fitted to, beside what the lab says. They
// judge the models; where they disagree, docs/validation.md says what is known.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "studies/lab_program.hpp"

namespace unlatch::studies {

struct validation_row {
  std::string what;
  std::string source;
  std::optional<double> published;  ///< without one, `said` is what the source says
  std::string said;
  std::string unit;
  double simulated = 0;

  /// simulated / published - 1
  [[nodiscard]] std::optional<double> error() const;
};

/// Simulates what was published of measurements on this model's machine; empty if nothing was that
/// the studies cover. Calls `next` before each row. Throws study_error and `interrupted`.
[[nodiscard]] std::vector<validation_row> validate(
    const lab::model_file& model, simulator& machine, const std::stop_token& stop,
    const std::function<void(const std::string&)>& next = {});

}  // namespace unlatch::studies
