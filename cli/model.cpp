// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>

#include "cli/program.hpp"
#include "studies/models.hpp"

namespace unlatch::cli {
namespace {

std::string value_of(const lab::model_constant& constant) {
  if (constant.is_truth) return constant.value != 0 ? "yes" : "no";
  return fmt::format("{} {}", constant.value, constant.unit);
}

void print_constants(const lab::model_file& model) {
  std::string group;
  for (const auto& constant : model.listed) {
    const auto dot = constant.path.find('.');
    const auto prefix = dot == std::string::npos ? std::string() : constant.path.substr(0, dot);
    if (prefix != group) fmt::print("{}\n", prefix);
    group = prefix;
    const auto name = dot == std::string::npos ? constant.path : constant.path.substr(dot + 1);
    fmt::print("  {:<22} {:<20} {}\n", name, value_of(constant), constant.source);
  }
}

void list_models() {
  for (const auto& model : lab::builtin_models()) {
    fmt::print("{:<20} {} ({})\n", model.name, model.description, model.used_by);
  }
}

}  // namespace

int model(const model_arguments& asked) {
  if (asked.name.empty()) {
    list_models();
    return success;
  }
  const auto model = studies::find_model(asked.name);
  if (asked.json) {
    std::cout << lab::to_json(model).dump(2) << '\n';
    return success;
  }
  fmt::print("{}: {}\nused by {}\n\n", model.name, model.description, model.used_by);
  print_constants(model);
  fmt::print("\nPublished figures that the constants were fitted to\n");
  for (const auto& figure : model.calibration) {
    fmt::print("  {:<26} {:>9} {:<22} {}\n", figure.figure, figure.value, figure.unit,
               figure.source);
  }
  return success;
}

}  // namespace unlatch::cli
