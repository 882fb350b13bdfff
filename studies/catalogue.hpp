// SPDX-License-Identifier: Apache-2.0
//
// What there is to choose from: studies, policies, locks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "studies/study.hpp"

namespace unlatch::studies {

struct catalogue_entry {
  std::string name;
  std::string description;
};

/// The elision policies, the default first.
[[nodiscard]] const std::vector<catalogue_entry>& policies();

/// The library's locks.
[[nodiscard]] const std::vector<catalogue_entry>& locks();

/// Studies with their cases, modes, parameters and threads; policies; locks.
[[nodiscard]] nlohmann::json catalogue_json();

}  // namespace unlatch::studies
