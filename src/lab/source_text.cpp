// SPDX-License-Identifier: Apache-2.0
#include "src/lab/source_text.hpp"

#include <fstream>
#include <string_view>
#include <system_error>

namespace unlatch::lab {

namespace {

constexpr bool continues_a_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\v\f";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(blanks) - first + 1);
  if (text.size() > source_text::most_bytes) {
    auto end = source_text::most_bytes;
    while (end > 0 && continues_a_character(text[end])) --end;
    text = text.substr(0, end);
  }
  return std::string(text);
}

}  // namespace

std::vector<std::string> source_text::read(const std::string& file) const {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(file, error);
  if (error || changed > built_ || !std::filesystem::is_regular_file(file, error)) return {};
  std::vector<std::string> lines;
  std::ifstream input(file, std::ios::binary);
  for (std::string line; std::getline(input, line);) lines.push_back(trimmed(line));
  return lines;
}

const std::string& source_text::line(const std::string& file, int number) {
  static const std::string none;
  auto found = files_.find(file);
  if (found == files_.end()) found = files_.emplace(file, read(file)).first;
  const auto& lines = found->second;
  if (number < 1 || static_cast<std::size_t>(number) > lines.size()) return none;
  return lines[static_cast<std::size_t>(number) - 1];
}

}  // namespace unlatch::lab
