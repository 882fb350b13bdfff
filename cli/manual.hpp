// SPDX-License-Identifier: Apache-2.0
//
// The manual page, made from the same command tree as --help.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace unlatch::cli {

/// The page for section 1 in the man macros. Every command and every option that --help shows
/// stands in it.
[[nodiscard]] std::string manual_page(const CLI::App& app);

/// The command lines of the page's EXAMPLES.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& manual_examples();

}  // namespace unlatch::cli
