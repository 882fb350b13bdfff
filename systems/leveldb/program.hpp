// SPDX-License-Identifier: Apache-2.0
//
// Finding the LevelDB programs, and running one of them: its output, its context switches, and a
// database directory that is gone afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace unlatch::leveldb_driver {

/// A program that cannot be found, fails, or says something that cannot be read. what() says which
/// program, what happened, and what to do.
class program_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One that exited with another code than 0.
class program_failed : public program_error {
 public:
  program_failed(const std::string& what, int code, std::string said)
      : program_error(what), code(code), said(std::move(said)) {}
  int code;
  std::string said;  ///< the end of its standard error
};

/// The programs are built for these.
enum class variant : std::uint8_t { stock, unlatch };
[[nodiscard]] std::string_view name_of(variant which) noexcept;

/// The path of `name` (say "leveldb_db_bench_stock") in `directory`; if that is empty, in the
/// systems/leveldb of this program's build tree or the libexec/unlatch of its installation: any of
/// these beside or above the directory of the running executable. Throws program_error.
[[nodiscard]] std::filesystem::path find_program(const std::string& name,
                                                 const std::filesystem::path& directory = {});

/// The path of `name` as it was built to run on a simulated machine: in the directory that
/// UNLATCH_LAB_LEVELDB names, the systems/leveldb of the folder `lab` beside this program's build
/// tree, or libexec/unlatch/lab. Throws program_error.
[[nodiscard]] std::filesystem::path find_simulated_program(const std::string& name);

/// The simulated machine that a program of that kind runs on.
struct simulated_machine {
  std::filesystem::path model;  ///< a model's file
  std::uint64_t seed = 1;
  std::uint64_t virtual_limit_ms = 0;  ///< of its time, for each process; 0: none

  /// As the program takes it on its command line.
  [[nodiscard]] std::vector<std::string> flags() const;
};

struct context_switches {
  std::uint64_t voluntary = 0;    ///< a thread blocked
  std::uint64_t involuntary = 0;  ///< a thread was preempted
};

struct program_output {
  std::string text;           ///< standard output
  context_switches switches;  ///< of the whole process, as wait4(2) reports them
};

/// Runs a program to its end; a stop request kills it. Throws program_error, with the end of its
/// standard error, if it cannot be started or is killed, and program_failed if it exits with
/// another code than 0. Blocks meanwhile.
[[nodiscard]] program_output run_program(const std::filesystem::path& program,
                                         const std::vector<std::string>& arguments,
                                         const std::stop_token& stop = {});

/// A directory of its own below `parent`, removed with all that is in it at the end of its life.
class scratch_directory {
 public:
  /// An empty `parent` stands for the system's directory for temporary files. Throws program_error.
  explicit scratch_directory(const std::filesystem::path& parent = {});
  ~scratch_directory();
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace unlatch::leveldb_driver
