// SPDX-License-Identifier: Apache-2.0
//
// Runs a plan cell by cell and keeps every finished one.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "studies/plan.hpp"
#include "studies/record_file.hpp"

namespace unlatch::studies {

/// Where a run stands; `next` is null at its end.
struct progress {
  std::size_t done = 0;
  std::size_t total = 0;
  double elapsed = 0;    ///< seconds
  double remaining = 0;  ///< seconds, from the mean of the cells done; 0 before the first
  const cell* next = nullptr;
};

struct run_result {
  std::vector<record> records;
  std::vector<std::string> given_up;  ///< which cells were given up, and at what
  bool interrupted = false;           ///< stopped before the last cell
};

/// Runs the cells in order. Every finished cell is appended to `file` before the next begins;
/// `report`, if set, is called on this thread before every cell and at the end. After a stop
/// request the cell in work is abandoned and what is finished is returned. A cell that is given up
/// is noted, and the others go on. Throws what else a measurement throws (study_error and others)
/// and what `file` throws; finished cells stay in the file.
run_result run(const plan& what, record_file& file, const std::stop_token& stop,
               const std::function<void(const progress&)>& report = {});

}  // namespace unlatch::studies
