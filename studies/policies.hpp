// SPDX-License-Identifier: Apache-2.0
//
// The elision policies that studies can choose by name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "studies/nearest_name.hpp"
#include "unlatch/policies.hpp"

namespace unlatch::studies {

/// `Policies` is a policy::list.
template <class Policies>
struct policies_by_name {
  [[nodiscard]] static std::vector<std::string> names() {
    return {Policies::names.begin(), Policies::names.end()};
  }

  /// Calls `f.template operator()<P>()` for the policy of that name. Throws unknown_name.
  template <class F>
  static void with(std::string_view name, F&& f) {
    if (!Policies::with(name, std::forward<F>(f))) throw unknown_name("policy", name, names());
  }
};

using elision_policies = policies_by_name<policy::all>;

}  // namespace unlatch::studies
