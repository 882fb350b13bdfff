// SPDX-License-Identifier: Apache-2.0
#include "studies/calibration.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "studies/plan.hpp"

namespace unlatch::studies {
namespace {

/// Which cell measures a figure.
struct figure_source {
  std::string_view figure;
  const char* study;
  const char* case_name;
  const char* mode;
};

constexpr const char* bare = "transactions";

constexpr auto figure_sources = std::to_array<figure_source>({
    {"begin_commit", "primitives", "begin_commit", bare},
    {"begin_abort", "primitives", "begin_abort", bare},
    {"compare_exchange", "primitives", "compare_exchange", bare},
    {"atomic_increment", "primitives", "atomic_increment", bare},
    {"hle_begin_commit", "prefixes", "pair", "prefixes"},
    {"write_capacity_stride_1", "capacity", "write", bare},
    {"write_capacity_stride_2", "capacity", "write-stride-2", bare},
    {"write_capacity_stride_3", "capacity", "write-stride-3", bare},
    {"write_capacity_stride_4", "capacity", "write-stride-4", bare},
    {"nesting", "nesting", "transactions", bare},
    {"duration_100", "duration", "nops", bare},
    {"duration_100000", "duration", "nops", bare},
    {"duration_13000000", "duration", "nops", bare},
    {"overhead_std_mutex", "overhead", "empty", "std_mutex"},
    {"overhead_tas", "overhead", "empty", "ttas"},
    {"overhead_hle", "overhead", "empty", "prefixes"},
    {"overhead_rtm", "overhead", "empty", "retry"},
});

/// The loop that Schrimpf's overheads are percentages of: its length is not published, but 36 % of
/// it is one transaction, for which Johnson measured 40 cycles.
constexpr double empty_loop_cycles = 40 / 0.36;

/// Measures cells once each.
class figure_measurer {
 public:
  figure_measurer(const lab::model_file& model, const lab_program& lab, std::stop_token stop)
      : model_(model), lab_(lab), stop_(std::move(stop)) {}

  double operator()(const figure_source& source) {
    const measurement& measured = cell_of(source.study, source.case_name, source.mode);
    if (std::string_view(source.study) != "overhead") {
      return measured.extra.at("figures").at(source.figure).at("value").get<double>();
    }
    const auto cycles =
        cycles_an_operation(measured) - cycles_an_operation(cell_of("overhead", "empty", "none"));
    return 100 * cycles / empty_loop_cycles;
  }

 private:
  [[nodiscard]] double cycles_an_operation(const measurement& measured) const {
    return measured.seconds * 1e6 * model_.constants.mhz / static_cast<double>(measured.ops);
  }

  const measurement& cell_of(const char* study, const char* case_name, const char* mode) {
    const auto key = fmt::format("{} {} {}", study, case_name, mode);
    const auto found = measured_.find(key);
    if (found != measured_.end()) return found->second;
    request asked;
    asked.cases = {case_name};
    asked.modes = {mode};
    asked.threads = {1};
    asked.on = model_;
    const auto cells = make_plan(find_study(study), asked).cells;
    const auto& wanted = *std::ranges::find(cells, mode, &cell::mode);
    return measured_.emplace(key, lab_.measure({study, wanted, model_}, stop_)).first->second;
  }

  const lab::model_file& model_;
  const lab_program& lab_;
  std::stop_token stop_;
  std::map<std::string, measurement> measured_;
};

}  // namespace

tolerance tolerance_of(const lab::calibration_figure& figure) {
  if (figure.unit == "cycles") return {1.05};
  if (figure.unit == "share aborted") return {1.5};
  if (figure.unit == "lines" || figure.unit == "transactions") return {1};
  return {};
}

bool calibration_row::within() const {
  const double least = std::min(simulated, published.value);
  const double most = std::max(simulated, published.value);
  return most <= least * allowed.factor;
}

std::vector<calibration_row> check_calibration(
    const lab::model_file& model, const lab_program& lab, const std::stop_token& stop,
    const std::function<void(const std::string&)>& next) {
  figure_measurer measure(model, lab, stop);
  std::vector<calibration_row> rows;
  for (const auto& figure : model.calibration) {
    const auto source = std::ranges::find(figure_sources, figure.figure, &figure_source::figure);
    if (source == figure_sources.end()) {
      throw study_error(fmt::format(
          "model {}: no study measures the calibration figure '{}'; remove it from the model",
          model.name, figure.figure));
    }
    if (next) next(figure.figure);
    rows.push_back({figure, measure(*source), tolerance_of(figure)});
  }
  return rows;
}

}  // namespace unlatch::studies
