// SPDX-License-Identifier: Apache-2.0
//
// The run of one benchmark program: measures cell after cell, prints a table for each, keeps every
// window as a record that `unlatch report` can draw, and says at the end which targets were missed.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/interleave.hpp"
#include "studies/record.hpp"

namespace unlatch::bench {

/// What one of ours must reach: its rate is at least `at_least` times that of whichever of
/// `best_of` is fastest in the same cell.
struct target {
  std::string ours;
  std::vector<std::string> best_of;
  double at_least = 1;
};

/// One table: peers that do the same work on the same number of threads.
struct cell {
  std::string case_name;
  std::map<std::string, std::uint64_t> params{};
  unsigned threads = 1;
  std::vector<peer> peers{};              ///< controls included
  std::vector<std::string> references{};  ///< peers that get a column of ratios; the first is the
                                          ///< baseline of the records
  std::vector<target> targets{};
};

/// What the command line asks for.
struct options {
  timing how;
  std::vector<unsigned> threads;  ///< empty: the program's own
  std::string only;               ///< cells whose name contains it
  std::filesystem::path out;      ///< directory for results; empty: none are written
};

class session {
 public:
  /// Reads the command line; `defaults` holds unless it says otherwise. Ends the program after
  /// --help and, with a message, on a wrong argument.
  session(std::string study, std::string description, options defaults, int argc, char** argv);

  [[nodiscard]] const options& asked() const { return asked_; }

  /// Measures a cell unless --only leaves it out. Throws std::filesystem::filesystem_error if the
  /// results cannot be written.
  void measure(const cell& what);

  /// Prints the targets, missed ones first. Returns main's exit status: 0, because a target missed
  /// on a busy machine is a result and not a failure.
  [[nodiscard]] int finish() const;

 private:
  struct outcome {
    std::string cell;
    std::string ours;
    std::string reference;
    quartiles reached;
    double at_least;
    quartiles control;  ///< of the reference if it has one, else all ones
    bool has_control;
    [[nodiscard]] bool missed() const { return reached.median < at_least; }
  };

  void print(const cell& what, const comparison& measured) const;
  void judge(const cell& what, const comparison& measured);
  void keep(const cell& what, const comparison& measured, const studies::host_facts& host);

  std::string study_;
  std::string command_;
  options asked_;
  workers workers_;
  std::vector<outcome> outcomes_;
  std::string records_;  ///< JSON, one a line
};

}  // namespace unlatch::bench
