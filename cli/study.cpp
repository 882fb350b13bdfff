// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <iostream>

#include "cli/findings.hpp"
#include "cli/interruption.hpp"
#include "cli/program.hpp"
#include "cli/progress_line.hpp"
#include "cli/table.hpp"
#include "studies/models.hpp"
#include "studies/runner.hpp"
#include "studies/summary.hpp"

namespace unlatch::cli {
namespace {

studies::run_result run_with_progress(const studies::plan& plan, studies::record_file& file,
                                      const std::stop_token& stop) {
  progress_display display;
  return studies::run(plan, file, stop, std::ref(display));
}

}  // namespace

int study(const study_arguments& asked) {
  auto request = asked.asked;
  if (!asked.on.empty()) request.on = studies::find_model(asked.on);
  const auto plan = studies::make_plan(studies::find_study(asked.name), request);
  studies::record_file file(asked.out, asked.name);
  const interruption signals;
  const auto result = run_with_progress(plan, file, signals.token());

  const auto rows = studies::summarize(result.records);
  if (asked.json) {
    nlohmann::json summary = nlohmann::json::array();
    for (const auto& row : rows) summary.push_back(studies::to_json(row));
    std::cout << summary.dump(2) << '\n';
  } else {
    fmt::print("{}{}", to_table(rows), to_findings(result.records));
  }
  const auto kept = file.size() == 0 ? std::string("no cell was finished, nothing was written")
                                     : fmt::format("{} of {} cells are in {}", file.size(),
                                                   plan.cells.size(), file.path().string());
  std::fflush(stdout);
  for (const auto& cell : result.given_up) fmt::print(stderr, "unlatch: {}\n", cell);
  if (result.interrupted) {
    fmt::print(stderr, "unlatch: interrupted; {}\n", kept);
    return interrupted;
  }
  fmt::print(stderr, "{}\n", kept);
  return result.given_up.empty() ? success : failure;
}

}  // namespace unlatch::cli
