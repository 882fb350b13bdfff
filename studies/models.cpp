// SPDX-License-Identifier: Apache-2.0
#include "studies/models.hpp"

#include "studies/nearest_name.hpp"

namespace unlatch::studies {

lab::model_file find_model(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) return lab::read_model(name);
  if (const auto* const found = lab::find_builtin_model(name)) return *found;
  std::vector<std::string> names;
  for (const auto& model : lab::builtin_models()) names.push_back(model.name);
  throw unknown_name("model", name, names);
}

}  // namespace unlatch::studies
