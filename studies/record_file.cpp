// SPDX-License-Identifier: Apache-2.0
#include "studies/record_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "studies/replace_file.hpp"

namespace unlatch::studies {

record_file::record_file(const std::filesystem::path& directory, const std::string& study)
    : path_(directory / (study + ".jsonl")) {
  std::filesystem::create_directories(directory);
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    throw std::filesystem::filesystem_error("cannot write records", directory,
                                            std::error_code(errno, std::generic_category()));
  }
}

void record_file::append(const record& value) {
  std::string contents = contents_ + to_json(value).dump() + '\n';
  if (size_ == 0 && std::filesystem::exists(path_)) {
    std::filesystem::path previous = path_;
    previous += ".previous";
    std::filesystem::remove(previous);
    std::filesystem::create_hard_link(path_, previous);
  }
  replace_file(path_, contents);
  contents_ = std::move(contents);
  ++size_;
}

}  // namespace unlatch::studies
