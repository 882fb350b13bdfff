// SPDX-License-Identifier: Apache-2.0
//
// How --help is laid out: in 80 columns, a command's first sentence in the list of commands.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace unlatch::cli {

/// `text` in lines of at most `width` characters, broken between words; longer words stay whole.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width);

class help_format : public CLI::Formatter {
 public:
  help_format();

  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
};

}  // namespace unlatch::cli
