// SPDX-License-Identifier: Apache-2.0
//
// Running a program under `unlatch profile` from a test.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../cli/subprocess.hpp"

namespace unlatch::probe::testing {

struct profiled {
  int status = 0;         ///< the exit status
  std::string out;        ///< what the program wrote
  std::string err;        ///< what both wrote to standard error
  nlohmann::json report;  ///< null if there is none

  /// The lock of that name; null if there is none.
  [[nodiscard]] nlohmann::json lock(const std::string& name) const {
    for (const auto& each : report.value("locks", nlohmann::json::array())) {
      if (each["name"] == name) return each;
    }
    return nullptr;
  }
  [[nodiscard]] long acquired(const std::string& name) const {
    const auto found = lock(name);
    return found.is_null() ? -1 : found["acquired"].get<long>();
  }
};

/// What is JSON in a text that may begin with something else.
inline nlohmann::json report_in(const std::string& text) {
  return nlohmann::json::parse(text.substr(std::min(text.find('{'), text.size())), nullptr, false);
}

/// `unlatch profile --json OPTIONS -- COMMAND`.
inline profiled profile(const std::vector<std::string>& command,
                        const std::vector<std::string>& options = {}) {
  std::vector<std::string> words{"profile", "--json"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  const auto ended = cli::testing::run(words);
  profiled result{ended.status, ended.out, ended.err, nullptr};
  if (auto report = report_in(ended.err); !report.is_discarded()) result.report = report;
  return result;
}

/// A case of the subject (profile_subject.hpp).
inline profiled profile_case(const std::string& name,
                             const std::vector<std::string>& options = {}) {
  auto result = profile({UNLATCH_PROFILED_SUBJECT, name}, options);
  EXPECT_EQ(result.status, 0) << name << ": " << result.out << result.err;
  return result;
}

}  // namespace unlatch::probe::testing
