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

/// What a cell may take that was not told. With a window: that twenty times, since sections that
/// starve hold a cell up long after it, and a second for what comes before; else four seconds, and
/// a tenth of a millisecond for each operation of each thread. No cell of the studies needs a third
/// of it, on any model, and a livelock ends within minutes.
[[nodiscard]] std::uint64_t usual_virtual_limit_ms(const cell& one);
/// What the cell was given, else the usual.
[[nodiscard]] std::uint64_t virtual_limit_ms(const cell& one);

/// A cell by its name, for people: "study bank, case transfers, ... on i7-4770".
[[nodiscard]] std::string describe(std::string_view study, const cell& one, std::string_view model);

[[nodiscard]] nlohmann::ordered_json to_json(const lab_request& request);
/// Throws nlohmann::json::exception or lab::model_error.
[[nodiscard]] lab_request parse_lab_request(std::string_view text);

[[nodiscard]] nlohmann::json to_json(const measurement& measured);
/// Throws nlohmann::json::exception.
[[nodiscard]] measurement parse_measurement(std::string_view text);

}  // namespace unlatch::studies
