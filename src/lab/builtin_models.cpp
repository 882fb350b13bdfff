// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "src/lab/model_file.hpp"

namespace unlatch::lab {
namespace {

constexpr auto texts = std::to_array<std::string_view>({
#include "builtin_models.inc"
});

}  // namespace

const std::vector<model_file>& builtin_models() {
  static const std::vector<model_file> models = [] {
    std::vector<model_file> read;
    for (const auto text : texts) read.push_back(parse_model(text, "a built-in model"));
    std::ranges::sort(read, {}, &model_file::name);
    return read;
  }();
  return models;
}

const model_file* find_builtin_model(std::string_view name) {
  const auto& models = builtin_models();
  const auto found = std::ranges::find(models, name, &model_file::name);
  return found == models.end() ? nullptr : &*found;
}

}  // namespace unlatch::lab
