// SPDX-License-Identifier: Apache-2.0
//
// Running an unmodified program with other locks: its pthread mutexes and reader-writer locks run
// their sections in transactions, or its mutexes become locks of another algorithm. What they did
// is here when the program has ended, however it ended.
//
// Thread safety: none needed; call from one thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/probe/lock_run_area.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::probe {

struct lock_run_request {
  std::vector<std::string> command;  ///< the program and its arguments
  lock_algorithm algorithm = lock_algorithm::elided;
  std::string policy = "adaptive";  ///< of elision: a name of policy::all
};

/// Locks that stayed the system's own.
struct refused_locks {
  std::string_view why;
  std::uint64_t locks = 0;  ///< initialized by a function; those that are so at rest do not count
  std::uint64_t sections = 0;
};

struct lock_run_outcome {
  int exit_status = 0;  ///< the program's; 128 and the signal that killed it
  /// Why the program ran as it is, without anything loaded into it; empty if it did not.
  std::string ran_as_it_is;
  lock_algorithm algorithm = lock_algorithm::elided;
  std::string policy;  ///< empty unless elided
  std::uint32_t processes = 0;
  std::uint32_t without_transactions = 0;  ///< of these, processes that found none
  std::uint32_t without_layout = 0;  ///< of these, with a C library whose locks look different
  /// A row a lock and the place where it was taken first; the most sections first.
  statistics::snapshot_type locks;
  std::vector<refused_locks> refused;  ///< only what there was
};

/// By its name: "mutex", "spin", "ticket", "mcs". Throws std::invalid_argument.
[[nodiscard]] lock_algorithm lock_algorithm_named(std::string_view name);
[[nodiscard]] const std::vector<std::string>& lock_algorithm_names();

/// Runs the program and waits for its end, as preloading_program::run() does. Where it is to elide
/// and the CPU has no transactions, the program runs as it is. Throws std::invalid_argument for
/// what was asked wrongly and program_error (program_file.hpp) for what cannot be run.
[[nodiscard]] lock_run_outcome run_with_locks(const lock_run_request& request);

/// For people: a line a lock, and what could not be served.
[[nodiscard]] std::string to_table(const lock_run_outcome& outcome);
[[nodiscard]] nlohmann::ordered_json to_json(const lock_run_outcome& outcome);

}  // namespace unlatch::probe
