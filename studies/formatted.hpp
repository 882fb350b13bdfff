// SPDX-License-Identifier: Apache-2.0
//
// Messages of what measures. In the simulated machine {fmt} is compiled with what uses it and
// instrumented, which takes longer than a study does: so one source file alone uses it.
#pragma once

#include <fmt/core.h>

#include <string>

namespace unlatch::studies {

[[nodiscard]] std::string formatted_of(fmt::string_view text, fmt::format_args values);

/// As fmt::format().
template <class... Values>
[[nodiscard]] std::string formatted(fmt::format_string<const Values&...> text,
                                    const Values&... values) {
  return formatted_of(text, fmt::make_format_args(values...));
}

}  // namespace unlatch::studies
