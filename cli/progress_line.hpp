// SPDX-License-Identifier: Apache-2.0
//
// The line that shows how far a study has come.
#pragma once

#include <string>

#include "studies/runner.hpp"

namespace unlatch::cli {

/// "[ 12/252] fillrandom, unlatch, 2 threads; 1:23 gone, about 4:10 left", cut to `columns`.
[[nodiscard]] std::string progress_line(const studies::progress& now, std::size_t columns);

/// Rewrites one line on standard error while it is a terminal; does nothing otherwise.
class progress_display {
 public:
  progress_display();
  progress_display(const progress_display&) = delete;
  progress_display& operator=(const progress_display&) = delete;
  ~progress_display();  ///< clears the line

  void operator()(const studies::progress& now);

 private:
  bool terminal_;
};

}  // namespace unlatch::cli
