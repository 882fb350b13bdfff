// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iostream>

#include "cli/program.hpp"
#include "studies/catalogue.hpp"
#include "studies/plan.hpp"

namespace unlatch::cli {
namespace {

void print(const studies::study& what) {
  fmt::print("{}\n  {}\n", what.name, what.description);
  fmt::print("  cases\n");
  for (const auto& one : what.cases) fmt::print("    {:<18} {}\n", one.name, one.description);
  fmt::print("  modes\n");
  for (const auto& mode : what.modes) {
    fmt::print("    {:<18} {}{}\n", mode.name, mode.description,
               &mode == &what.baseline() ? " (baseline)" : "");
    const auto reason = studies::why_not(mode, std::nullopt);
    if (!reason.empty()) fmt::print("    {:<18} not here: {}\n", "", reason);
    if (mode.elides()) {
      fmt::print("    {:<18} policies: {}\n", "", fmt::join(mode.policies, ", "));
    }
  }
  fmt::print("  parameters\n");
  for (const auto& parameter : what.parameters) {
    fmt::print("    {:<18} {} [{}, quick {}]\n", parameter.name, parameter.description,
               parameter.value, parameter.quick_value);
  }
  fmt::print("  threads: {}\n\n", fmt::join(what.threads, ", "));
}

void print(std::string_view title, const std::vector<studies::catalogue_entry>& entries) {
  fmt::print("{}\n", title);
  for (const auto& [name, description] : entries) fmt::print("  {:<20} {}\n", name, description);
  fmt::print("\n");
}

}  // namespace

int list(const list_arguments& asked) {
  if (asked.json) {
    std::cout << studies::catalogue_json().dump(2) << '\n';
    return success;
  }
  fmt::print("Studies\n\n");
  for (const auto& what : studies::registry()) print(what);
  print("Policies", studies::policies());
  print("Locks", studies::locks());
  return success;
}

}  // namespace unlatch::cli
