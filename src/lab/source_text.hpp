// SPDX-License-Identifier: Apache-2.0
//
// The text of lines of source files, for showing beside their numbers.
//
// Thread safety: none. Cost: a file is read once and kept.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace unlatch::lab {

class source_text {
 public:
  /// A line's text is cut after so many bytes, between characters.
  static constexpr std::size_t most_bytes = 160;

  /// For a program that was built at `built`: a file that changed later may have other lines than
  /// the program's, so it counts as one that cannot be read.
  explicit source_text(std::filesystem::file_time_type built) : built_(built) {}

  /// Line `number`, from 1, of `file` without the blanks around it; empty where the file cannot be
  /// read, changed after the program was built, or has no such line.
  const std::string& line(const std::string& file, int number);

 private:
  std::vector<std::string> read(const std::string& file) const;

  std::filesystem::file_time_type built_;
  std::map<std::string, std::vector<std::string>, std::less<>> files_;
};

}  // namespace unlatch::lab
