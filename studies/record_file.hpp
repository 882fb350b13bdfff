// SPDX-License-Identifier: Apache-2.0
//
// The file DIR/NAME.jsonl that a study writes while it runs.
//
// Invariant: at every moment the file holds whole records only. It is replaced by rename after
// every append, so an interrupted or killed study leaves what was finished and nothing else.
//
// Thread safety: one thread at a time.
#pragma once

#include <filesystem>
#include <string>

#include "studies/record.hpp"

namespace unlatch::studies {

class record_file {
 public:
  /// Creates `directory` if need be. A file of an earlier run stays in place until the first
  /// append, which keeps it as NAME.jsonl.previous. Throws std::filesystem::filesystem_error if
  /// the directory cannot be made or written.
  record_file(const std::filesystem::path& directory, const std::string& study);

  /// Adds a record and puts the file into place. Throws std::filesystem::filesystem_error; then
  /// the file holds what it held before. Cost: writes the whole file.
  void append(const record& value);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t size() const { return size_; }  ///< records appended

 private:
  std::filesystem::path path_;
  std::string contents_;
  std::size_t size_ = 0;
};

}  // namespace unlatch::studies
