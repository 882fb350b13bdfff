// SPDX-License-Identifier: Apache-2.0
//
// What studies share whose cells are runs of LevelDB programs.
#pragma once

#include <stop_token>

#include "studies/study.hpp"
#include "systems/leveldb/program.hpp"

namespace unlatch::studies {

/// Stock LevelDB, the baseline, and LevelDB on the library.
[[nodiscard]] inline std::vector<study_mode> leveldb_modes() {
  return {
      {"stock", "LevelDB 1.23 as it is", {}},
      {"unlatch", "the same sources on the library's mutex and condition variable", {"adaptive"}}};
}

inline void add_context_switches(measurement& measured,
                                 const leveldb_driver::context_switches& switches) {
  measured.context_switches = switches.voluntary + switches.involuntary;
  measured.extra["voluntary_context_switches"] = switches.voluntary;
}

/// Calls `measure`; throws `interrupted` where it fails because a stop was requested (Ctrl-C on a
/// terminal reaches the program that runs as well).
template <class Measure>
measurement with_interruption(const std::stop_token& stop, Measure&& measure) {
  try {
    return measure();
  } catch (const leveldb_driver::program_error&) {
    if (stop.stop_requested()) throw interrupted();
    throw;
  }
}

}  // namespace unlatch::studies
