// SPDX-License-Identifier: Apache-2.0
//
// What studies share whose cells are runs of LevelDB programs.
#pragma once

#include <stop_token>
#include <string>

#include "src/lab/model_file.hpp"
#include "studies/study.hpp"
#include "systems/leveldb/program.hpp"

namespace unlatch::studies {

/// Stock LevelDB, the baseline; LevelDB on the library; and, on simulated machines, two builds to
/// compare with.
[[nodiscard]] std::vector<study_mode> leveldb_modes();

void add_context_switches(measurement& measured, const leveldb_driver::context_switches& switches);

/// Calls `measure`; throws `interrupted` where it fails because a stop was requested (Ctrl-C on a
/// terminal reaches the program that runs as well).
template <class Measure>
auto with_interruption(const std::stop_token& stop, Measure&& measure) {
  try {
    return measure();
  } catch (const leveldb_driver::program_error&) {
    if (stop.stop_requested()) throw interrupted();
    throw;
  }
}

/// Throws given_up if `failed` is how the cell's program says that its virtual time is used up.
void require_not_given_up(const std::string& study, const cell& one, const lab::model_file& on,
                          const leveldb_driver::program_failed& failed);
/// Writes the model to `file`; the machine that the cell runs on.
[[nodiscard]] leveldb_driver::simulated_machine make_machine(const cell& one,
                                                             const lab::model_file& on,
                                                             const std::filesystem::path& file);
/// Adds what the simulated machine has counted, printed as JSON.
void add_machine_counters(measurement& measured, const std::string& counters);

/// Calls `simulate(machine)` with the machine for a program that simulates the cell, and throws as
/// with_interruption() and require_not_given_up() do.
template <class Simulate>
auto with_machine(const std::string& study, const cell& one, const lab::model_file& on,
                  const std::stop_token& stop, Simulate&& simulate) {
  return with_interruption(stop, [&] {
    const leveldb_driver::scratch_directory told;
    try {
      return simulate(make_machine(one, on, told.path() / "machine.json"));
    } catch (const leveldb_driver::program_failed& failed) {
      require_not_given_up(study, one, on, failed);
      throw;
    }
  });
}

}  // namespace unlatch::studies
