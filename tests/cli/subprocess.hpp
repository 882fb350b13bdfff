// SPDX-License-Identifier: Apache-2.0
//
// Running the `unlatch` program from a test.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace unlatch::cli::testing {

/// What a program said and how it ended.
struct outcome {
  int status = 0;  ///< exit code; 128 + the signal that killed it
  std::string out;
  std::string err;
};

/// A running `unlatch`, its standard output and error kept in files. Killed if it still runs when
/// the object goes.
class subprocess {
 public:
  /// `error_terminal`: standard error is a terminal instead of a file.
  explicit subprocess(const std::vector<std::string>& arguments, bool error_terminal = false);
  subprocess(const subprocess&) = delete;
  subprocess& operator=(const subprocess&) = delete;
  ~subprocess();

  [[nodiscard]] pid_t id() const { return id_; }
  outcome wait();

 private:
  std::filesystem::path directory_;
  pid_t id_ = -1;
  int terminal_ = -1;
};

/// Runs `unlatch` with `arguments` to its end.
[[nodiscard]] outcome run(const std::vector<std::string>& arguments);

}  // namespace unlatch::cli::testing
