// SPDX-License-Identifier: Apache-2.0
//
// Every constant of a model by its path in the file, with its unit and range.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "src/lab/model.hpp"

namespace unlatch::lab {

/// One constant. Exactly one of `number` and `truth` is set.
struct model_field {
  std::string_view path;
  std::string_view unit;
  std::uint32_t minimum = 0;
  std::uint32_t maximum = 1;
  std::uint32_t& (*number)(model&) = nullptr;
  bool& (*truth)(model&) = nullptr;
};

/// All of them, in the order of model.hpp.
[[nodiscard]] std::span<const model_field> model_fields();

}  // namespace unlatch::lab
