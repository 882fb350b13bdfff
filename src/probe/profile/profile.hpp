// SPDX-License-Identifier: Apache-2.0
//
// Looking at the locks of an unmodified program while it runs: how often they are taken, where, how
// contended they are, how long they are held, what is touched under them, and what to do about it.
//
// Thread safety: none needed; call from one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/lab/model.hpp"
#include "src/probe/profile/advice.hpp"
#include "src/probe/profile/read_recording.hpp"
#include "src/probe/profile/sections.hpp"

namespace unlatch::probe {

/// What to run, and how.
struct profile_request {
  std::vector<std::string> command;  ///< the program and its arguments
  std::filesystem::path recording;   ///< the file to record into; empty: one that is removed
  lab::model machine{};              ///< that advice is asked for
  double sampling_percent = 1;  ///< of a process's time, for stepping sections; 0: none, at most 50
};

/// What happened at one call that takes a lock.
struct site_profile {
  std::string where;
  recording::lock_kind kind{};
  use_totals totals;
};

/// One lock, or several that are taken at the same places.
struct lock_profile {
  std::string name;
  std::uint64_t instances = 1;
  std::uint64_t address = 0;  ///< of the first instance
  use_totals totals;
  std::vector<site_profile> sites;  ///< where it was held longest first
  section_summary sections;
  std::vector<advice> advised;  ///< the most important first
};

struct profile_report {
  int exit_status = 0;  ///< the program's; 128 and the signal that killed it
  double ticks_per_us = 0;
  double run_us = 0;
  std::uint64_t processes = 0;
  std::string failure;  ///< why recording ended early; empty if it did not
  std::uint64_t lost_uses = 0;
  std::uint64_t lost_threads = 0;
  std::vector<lock_profile>
      locks;  ///< those that were waited for longest, then held longest, first
};

/// Runs the program and waits for its end, as preloading_program::run() does. Throws
/// std::invalid_argument for what was asked wrongly, program_error (program_file.hpp) for what
/// cannot be run, and recording_error for a recording that cannot be made.
[[nodiscard]] profile_report profile(const profile_request& request);

/// What an earlier recording says. Throws recording_error.
[[nodiscard]] profile_report read_profile(const std::filesystem::path& recording,
                                          const lab::model& machine);

[[nodiscard]] profile_report report_of(const recording_contents& contents,
                                       const lab::model& machine);

/// "mutex", "read" …
[[nodiscard]] std::string_view name_of(recording::lock_kind kind);

/// For people: a line a lock, below it a line a call site. At most `most_locks` locks.
[[nodiscard]] std::string to_table(const profile_report& report, std::size_t most_locks);
[[nodiscard]] nlohmann::ordered_json to_json(const profile_report& report);

}  // namespace unlatch::probe
