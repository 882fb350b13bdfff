// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/interruption.hpp"
#include "cli/program.hpp"
#include "studies/calibration.hpp"
#include "studies/models.hpp"
#include "studies/validation.hpp"

namespace unlatch::cli {
namespace {

/// Shows what is simulated while standard error is a terminal.
void show(const std::string& what) {
  if (isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\x1b[K{}", what);
}

void clear() { show(""); }

std::string allowed(const studies::tolerance& tolerance) {
  if (tolerance.factor == 1) return "exact";
  if (tolerance.factor == std::numeric_limits<double>::infinity()) return "shown only";
  if (tolerance.factor < 1.1) return fmt::format("{:.0f} %", 100 * (tolerance.factor - 1));
  return fmt::format("factor {:g}", tolerance.factor);
}

nlohmann::json to_json(const studies::calibration_row& row) {
  return {{"figure", row.published.figure},
          {"unit", row.published.unit},
          {"published", row.published.value},
          {"simulated", row.simulated},
          {"error", row.error()},
          {"allowed", allowed(row.allowed)},
          {"within", row.within()},
          {"source", row.published.source}};
}

nlohmann::json to_json(const studies::validation_row& row) {
  nlohmann::json object = {
      {"what", row.what}, {"unit", row.unit}, {"simulated", row.simulated}, {"source", row.source}};
  if (row.published) object["published"] = *row.published;
  if (!row.said.empty()) object["said"] = row.said;
  if (const auto error = row.error()) object["error"] = *error;
  return object;
}

template <class Row>
void print_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& row : rows) list.push_back(to_json(row));
  std::cout << list.dump(2) << '\n';
}

}  // namespace

int check_model(const model_arguments& asked) {
  const auto model = studies::find_model(asked.name);
  const interruption signals;
  const auto rows =
      studies::check_calibration(model, studies::lab_program(), signals.token(), show);
  clear();
  if (asked.json) {
    print_json(rows);
  } else {
    fmt::print("Calibration of {} (SIMULATED beside published)\n\n", model.name);
    fmt::print("| {:<26} | {:>10} | {:>10} | {:>8} | {:<10} | {:<4} | source |\n", "figure",
               "published", "simulated", "error", "allowed", "");
    fmt::print("|{:-<28}|{:->11}:|{:->11}:|{:->9}:|{:-<12}|{:-<6}|---|\n", "", "", "", "", "", "");
    for (const auto& row : rows) {
      fmt::print("| {:<26} | {:>10.5g} | {:>10.5g} | {:>+7.1f}% | {:<10} | {:<4} | {} |\n",
                 row.published.figure, row.published.value, row.simulated, 100 * row.error(),
                 allowed(row.allowed), row.within() ? "ok" : "OFF", row.published.source);
    }
  }
  return std::ranges::all_of(rows, &studies::calibration_row::within) ? success : failure;
}

int validate_model(const model_arguments& asked) {
  const auto model = studies::find_model(asked.name);
  const interruption signals;
  studies::simulator machine;
  const auto rows = studies::validate(model, machine, signals.token(), show);
  clear();
  if (asked.json) {
    print_json(rows);
    return success;
  }
  if (rows.empty()) {
    fmt::print("Nothing was published of {} that the studies measure.\n", model.name);
    return success;
  }
  fmt::print("Validation of {} (SIMULATED beside published; the model was not fitted to these)\n\n",
             model.name);
  fmt::print("| {:<58} | {:>23} | {:>9} | {:>7} | source |\n", "what", "published", "simulated",
             "error");
  fmt::print("|{:-<60}|{:->24}:|{:->10}:|{:->8}:|---|\n", "", "", "", "");
  for (const auto& row : rows) {
    const auto error = row.error();
    fmt::print("| {:<58} | {:>23} | {:>9.4g} | {:>7} | {} |\n",
               fmt::format("{} ({})", row.what, row.unit),
               row.published ? fmt::format("{:g}", *row.published) : row.said, row.simulated,
               error ? fmt::format("{:+.0f}%", 100 * *error) : "", row.source);
  }
  return success;
}

}  // namespace unlatch::cli
