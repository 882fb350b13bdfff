// SPDX-License-Identifier: Apache-2.0
//
// What `unlatch` and `unlatch-lab` say to each other: one cell to measure on one machine model as
// a JSON object on unlatch-lab's standard input, and what came out as one on its standard output.
//
//   {"study": "bank", "cell": {"case": "transfers", …}, "model": {…a model's file…}, "blame": true}
//   {"ops": 1234, "seconds": 0.002, "transactions": {…}, …}
//
// Thread safety: values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "src/lab/model_file.hpp"
#include "studies/study.hpp"

namespace unlatch::studies {

struct lab_request {
  std::string study;
  cell what;
  lab::model_file on;
  bool blame = false;  ///< say which lines of the program made transactions abort
};

[[nodiscard]] nlohmann::ordered_json to_json(const lab_request& request);
/// Throws nlohmann::json::exception or lab::model_error.
[[nodiscard]] lab_request parse_lab_request(std::string_view text);

[[nodiscard]] nlohmann::json to_json(const measurement& measured);
/// Throws nlohmann::json::exception.
[[nodiscard]] measurement parse_measurement(std::string_view text);

}  // namespace unlatch::studies
