// SPDX-License-Identifier: Apache-2.0
#include "report/report.hpp"

#include <fmt/core.h>

#include "cli/program.hpp"
#include "studies/record.hpp"
#include "studies/replace_file.hpp"

namespace unlatch::cli {

int report(const report_arguments& asked) {
  std::vector<nlohmann::json> records;
  for (const auto& record : studies::read_run(asked.directory)) {
    records.push_back(studies::to_json(record));
  }
  studies::replace_file(asked.file, unlatch::report::render(records));
  fmt::print(stderr, "{} records are in {}\n", records.size(), asked.file.string());
  return success;
}

}  // namespace unlatch::cli
