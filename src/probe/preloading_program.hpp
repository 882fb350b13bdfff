// SPDX-License-Identifier: Apache-2.0
//
// Running a program with one of the probe's objects loaded into it and into the programs that it
// starts.
//
// Thread safety: none needed; call from one thread.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace unlatch::probe {

/// An object that is built with this program, and how people are told of it.
struct preloaded_object {
  const char* what;      ///< "the emulator"
  const char* file;      ///< its name
  const char* variable;  ///< the environment variable that may name another file
  const char* remedy;    ///< what to do if it is not there
};

/// A program that an object can be loaded into.
class preloading_program {
 public:
  /// `command` is the program and its arguments; it must not be empty. Throws program_error
  /// (program_file.hpp) where program or object is missing, or one cannot be loaded into the other.
  preloading_program(std::vector<std::string> command, const preloaded_object& object);

  /// Runs the program with `variables` set, each a name and a value, and waits for its end. Its
  /// input and output are this process's; SIGINT and SIGQUIT are the program's alone meanwhile.
  /// Returns its exit status, or 128 and the signal that killed it. Throws program_error.
  [[nodiscard]] int run(const std::vector<std::pair<std::string, std::string>>& variables) const;

 private:
  std::vector<std::string> command_;
  std::filesystem::path program_;
  std::filesystem::path object_;
};

/// Runs any program as preloading_program::run() does, with nothing loaded into it.
[[nodiscard]] int run_as_it_is(const std::vector<std::string>& command);

}  // namespace unlatch::probe
