// SPDX-License-Identifier: Apache-2.0
#include "studies/models.hpp"

#include <algorithm>

#include "studies/nearest_name.hpp"

namespace unlatch::studies {

lab::model_file find_model(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".json")) return lab::read_model(name);
  const auto& models = lab::builtin_models();
  const auto found = std::ranges::find(models, name, &lab::model_file::name);
  if (found != models.end()) return *found;
  std::vector<std::string> names;
  for (const auto& model : models) names.push_back(model.name);
  throw unknown_name("model", name, names);
}

}  // namespace unlatch::studies
