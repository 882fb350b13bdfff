// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean …": the names nearest to one that is not known.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace unlatch::studies {

/// Letters to insert, delete, replace or swap with their neighbour to make `b` from `a` (optimal
/// string alignment distance). Cost: |a| x |b|.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The names nearest to `name`, nearest first, at most three: those within a third of its length
/// (at least 2) of edits, and those that begin with it.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view name,
                                                     const std::vector<std::string>& known);

/// A name that nothing carries. what() says what was asked for and what comes nearest; with
/// nothing near, all names there are.
class unknown_name : public std::invalid_argument {
 public:
  /// `kind` is what was named: "study", "mode", "parameter" …
  unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known);
};

/// Throws unknown_name unless `name` is one of `known`.
void require_name(std::string_view kind, std::string_view name,
                  const std::vector<std::string>& known);

}  // namespace unlatch::studies
