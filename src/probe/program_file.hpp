// SPDX-License-Identifier: Apache-2.0
//
// Which file a command line runs, and whether an object can be loaded into it.
//
// Thread safety: no shared state.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

namespace unlatch::probe {

/// A program that cannot be run, or not with an object loaded into it. what() says which, why, and
/// what to do.
class program_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The file that `name` runs: itself if it has a '/', else the first of that name in PATH that may
/// be executed. Throws program_error.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

/// Throws program_error unless `file` is there and may be executed.
void require_executable(const std::filesystem::path& file);

/// Throws program_error unless `file` is a dynamically linked x86-64 program, or a script whose
/// interpreter is one, and neither changes its user or group nor has capabilities: the dynamic
/// linker ignores LD_PRELOAD in all others. Reads the headers.
void require_preloadable(const std::filesystem::path& file);

}  // namespace unlatch::probe
