// SPDX-License-Identifier: Apache-2.0
//
// The policies by name, for programs that let their users choose.
#pragma once

#include <array>
#include <string_view>

#include "unlatch/adaptive.hpp"
#include "unlatch/policy.hpp"

namespace unlatch::policy {

template <class... Policies>
struct list {
  static constexpr std::array<std::string_view, sizeof...(Policies)> names = {Policies::name...};

  /// Calls `f.template operator()<P>()` for the policy of that name. Returns whether there is one.
  template <class F>
  static constexpr bool with(std::string_view name, F&& f) {
    return ((name == Policies::name && (f.template operator()<Policies>(), true)) || ...);
  }
};

/// The default first; `fixed` makes three attempts.
using all =
    list<adaptive, hle, fixed<3>, glibc, tbb, mariadb, ck, cervini, xsync, niessing, johnson>;

}  // namespace unlatch::policy
