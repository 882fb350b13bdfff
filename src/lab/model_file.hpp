// SPDX-License-Identifier: Apache-2.0
//
// Machine models as files: JSON that gives every constant of model.hpp with its unit and its
// source, and the published figures that the constants were fitted to.
//
//   {"name": "i7-4770", "description": "…", "used_by": "…",
//    "constants": {"sockets": {"value": 1, "unit": "sockets", "source": "…"},
//                  "l1d": {"bytes": {"value": 32768, "unit": "bytes", "source": "…"}, …}, …},
//    "calibration": [{"figure": "begin_commit", "value": 40, "unit": "cycles", "source": "…"}, …]}
//
// Every constant must be there, with the unit it has here, within its range, and with a source.
//
// Thread safety: values; no function here shares state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "src/lab/model.hpp"

namespace unlatch::lab {

/// A constant as its file gives it.
struct model_constant {
  std::string path;         ///< "l1d.bytes"
  std::uint32_t value = 0;  ///< 0 or 1 where `is_truth`
  bool is_truth = false;    ///< yes or no
  std::string unit;
  std::string source;  ///< where it comes from; "assumed: …" and "fitted: …" say so

  bool operator==(const model_constant&) const = default;
};

/// A published measurement that the model is to reproduce.
struct calibration_figure {
  std::string figure;
  double value = 0;
  std::string unit;
  std::string source;

  bool operator==(const calibration_figure&) const = default;
};

/// A model with all that its file says about it.
struct model_file {
  std::string name;
  std::string description;
  std::string used_by;
  model constants{};
  std::vector<model_constant> listed;  ///< the constants in the order of model.hpp
  std::vector<calibration_figure> calibration;
};

/// A model that is malformed; what() is "FILE:LINE: what" or "FILE: field 'x': what; what is
/// allowed".
class model_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads a model from `text`; `source` names it in errors. Throws model_error.
[[nodiscard]] model_file parse_model(std::string_view text, std::string_view source);

/// Reads a model from a file. Throws model_error, also if the file cannot be read.
[[nodiscard]] model_file read_model(const std::filesystem::path& file);

/// The models of machines/, in the order of their names; they are part of the program.
[[nodiscard]] const std::vector<model_file>& builtin_models();
/// The one of that name; null if there is none.
[[nodiscard]] const model_file* find_builtin_model(std::string_view name);

/// The model as its file gives it: parse_model() reads it back.
[[nodiscard]] nlohmann::ordered_json to_json(const model_file& file);

}  // namespace unlatch::lab
