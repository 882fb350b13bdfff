// SPDX-License-Identifier: Apache-2.0
#include "cli/help_format.hpp"

#include <CLI/Config.hpp>
#include <sstream>

namespace unlatch::cli {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t text_column = 26;

}  // namespace

std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words(text);
  std::string lines;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    const bool fits = used + 1 + word.size() <= width;
    if (used > 0) lines += fits ? ' ' : '\n';
    lines += word;
    used = word.size() + (used > 0 && fits ? used + 1 : 0);
  }
  return lines;
}

help_format::help_format() { column_width(text_column); }

std::string help_format::make_description(const CLI::App* app) const {
  return wrapped(app->get_description(), columns) + '\n';
}

std::string help_format::make_subcommand(const CLI::App* command) const {
  const std::string description = command->get_description();
  const std::string sentence = description.substr(0, description.find_first_of(".:"));
  std::stringstream out;
  CLI::detail::format_help(out, command->get_name(), wrapped(sentence, columns - text_column),
                           text_column);
  return out.str();
}

std::string help_format::make_option_desc(const CLI::Option* option) const {
  return wrapped(option->get_description(), columns - text_column);
}

}  // namespace unlatch::cli
