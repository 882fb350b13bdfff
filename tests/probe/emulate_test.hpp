// SPDX-License-Identifier: Apache-2.0
//
// Running a program under `unlatch emulate` from a test.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../cli/subprocess.hpp"

namespace unlatch::probe::testing {

struct emulated {
  int status = 0;         ///< the exit status
  std::string out;        ///< what the program wrote
  std::string err;        ///< what both wrote to standard error
  nlohmann::json report;  ///< discarded if there is none
  nlohmann::json totals;  ///< the report's "transactions"; null if there is none

  [[nodiscard]] long begun() const { return totals["begun"]; }
  [[nodiscard]] long committed() const { return totals["committed"]; }
  [[nodiscard]] long aborted(const char* cause) const { return totals["aborted"][cause]; }
};

/// `unlatch emulate --json OPTIONS -- COMMAND`.
inline emulated emulate(const std::vector<std::string>& command,
                        const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{"emulate", "--json"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  const auto ended = cli::testing::run(words);
  emulated result{ended.status, ended.out, ended.err, nullptr, nullptr};
  result.report = nlohmann::json::parse(
      ended.err.substr(std::min(ended.err.find('{'), ended.err.size())), nullptr, false);
  if (!result.report.is_discarded()) result.totals = result.report["transactions"];
  return result;
}

/// A case of the subject (subject.hpp).
inline emulated emulate_case(const std::string& name,
                             const std::vector<std::string>& options = {}) {
  auto result = emulate({UNLATCH_SUBJECT, name}, options);
  EXPECT_EQ(result.status, 0) << name << ": " << result.out << result.err;
  return result;
}

}  // namespace unlatch::probe::testing
