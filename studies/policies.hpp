// SPDX-License-Identifier: Apache-2.0
//
// The elision policies that studies can choose by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "studies/nearest_name.hpp"
#include "unlatch/adaptive.hpp"
#include "unlatch/policy.hpp"

namespace unlatch::studies {

template <class... Policies>
struct policy_list {
  [[nodiscard]] static std::vector<std::string> names() { return {std::string(Policies::name)...}; }

  /// Calls `f.template operator()<P>()` for the policy of that name. Throws unknown_name.
  template <class F>
  static void with(std::string_view name, F&& f) {
    const bool found =
        ((name == Policies::name && (f.template operator()<Policies>(), true)) || ...);
    if (!found) throw unknown_name("policy", name, names());
  }
};

/// The default first; `fixed` makes three attempts.
using elision_policies = policy_list<policy::adaptive, policy::hle, policy::fixed<3>, policy::glibc,
                                     policy::tbb, policy::mariadb, policy::ck, policy::cervini,
                                     policy::xsync, policy::niessing, policy::johnson>;

}  // namespace unlatch::studies
