// SPDX-License-Identifier: Apache-2.0
//
// What a record's key `blame` must look like to be read. docs/records.md says what it means.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace unlatch::studies {

struct blame_fault {
  std::string key;   ///< "conflicts[0].owner.line"
  std::string what;  ///< "is missing", "is 7, must be a string"
};

/// The first thing wrong with `blame`, if there is one. Keys that records had not always (texts of
/// lines, ranges of bytes, allocations) may be missing; none may have the wrong type. Keys that are
/// not described are not looked at.
[[nodiscard]] std::optional<blame_fault> find_fault(const nlohmann::json& blame);

}  // namespace unlatch::studies
