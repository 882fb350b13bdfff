// SPDX-License-Identifier: Apache-2.0
//
// Machine models by name or file.
#pragma once

#include <string>

#include "src/lab/model_file.hpp"

namespace unlatch::studies {

/// The built-in model of that name; a name with a '/' or that ends in ".json" is a file. Throws
/// unknown_name for a name that no model has and lab::model_error for a file that is malformed.
[[nodiscard]] lab::model_file find_model(const std::string& name);

}  // namespace unlatch::studies
