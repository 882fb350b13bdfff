// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "src/probe/lock_run.hpp"

namespace unlatch::probe {
namespace {

std::string_view name_of(lock_algorithm algorithm) {
  if (algorithm == lock_algorithm::elided) return "elided";
  return lock_algorithm_names()[static_cast<std::size_t>(algorithm) - 1];
}

/// "3 processes"
std::string count(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

std::string processes_of(const lock_run_outcome& outcome) {
  std::string text = count(outcome.processes, "process", "processes");
  if (outcome.without_transactions != 0) {
    text += fmt::format("; {} found no transactions and kept the system's locks",
                        outcome.without_transactions);
  }
  if (outcome.without_layout != 0) {
    text += fmt::format(
        "; {} kept the system's locks, because those of this C library look different from all "
        "that are known",
        outcome.without_layout);
  }
  return text + '\n';
}

}  // namespace

std::string to_table(const lock_run_outcome& outcome) {
  if (!outcome.ran_as_it_is.empty()) {
    return fmt::format("{}\nThe program ran as it is, with nothing loaded into it.\n",
                       outcome.ran_as_it_is);
  }
  std::string text = outcome.locks.to_table();
  for (const auto& each : outcome.refused) {
    text += fmt::format("not served, {}: {}, {}\n", each.why,
                        count(each.locks, "lock initialized", "locks initialized"),
                        count(each.sections, "section", "sections"));
  }
  return text + processes_of(outcome);
}

nlohmann::ordered_json to_json(const lock_run_outcome& outcome) {
  nlohmann::ordered_json report = {{"locks_are", name_of(outcome.algorithm)}};
  if (!outcome.policy.empty()) report["policy"] = outcome.policy;
  report["ran_as_it_is"] = !outcome.ran_as_it_is.empty();
  if (!outcome.ran_as_it_is.empty()) report["why"] = outcome.ran_as_it_is;
  report["exit_status"] = outcome.exit_status;
  report["processes"] = outcome.processes;
  report["processes_without_transactions"] = outcome.without_transactions;
  report["processes_with_unknown_locks"] = outcome.without_layout;
  report["locks"] = nlohmann::ordered_json::parse(outcome.locks.to_json());
  report["not_served"] = nlohmann::ordered_json::array();
  for (const auto& each : outcome.refused) {
    report["not_served"].push_back(
        {{"why", each.why}, {"locks_initialized", each.locks}, {"sections", each.sections}});
  }
  return report;
}

}  // namespace unlatch::probe
