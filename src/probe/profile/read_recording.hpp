// SPDX-License-Identifier: Apache-2.0
//
// A recording (recording.hpp) read back: of a program that has ended, was killed, or still runs.
//
// Thread safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/probe/profile/recording.hpp"

namespace unlatch::probe {

/// A file that is no recording, or cannot be read. what() says which and why.
class recording_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How long something took, by classes (recording::duration_counts).
struct durations {
  std::array<std::uint64_t, recording::duration_counts::classes> counts{};

  void add(const durations& other);
  [[nodiscard]] std::uint64_t total() const;
  /// The duration in ticks that a share of them, 0 to 1, does not exceed: the middle of its class,
  /// which is a quarter of an octave wide. 0 if there are none.
  [[nodiscard]] double percentile(double share) const;
};

/// What happened, added up over whatever it is about.
struct use_totals {
  std::uint64_t acquired = 0;
  std::uint64_t contended = 0;
  std::uint64_t contended_by_sample = 0;
  std::uint64_t refused = 0;
  std::uint64_t wait_ticks = 0;       ///< for the lock and, where that was waited for, a condition
  std::uint64_t contended_ticks = 0;  ///< for the lock
  std::uint64_t timed = 0;
  std::uint64_t held_ticks = 0;  ///< of the timed ones
  durations held;

  void add(const use_totals& other);
  /// Ticks that all acquisitions held the lock, as far as those that were timed can tell.
  [[nodiscard]] double all_held_ticks() const;
};

/// A row of the recording.
struct recorded_use {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t lock = 0;
  std::uint64_t site = 0;
  recording::lock_kind kind{};
  use_totals totals;
};

/// A section that was executed instruction by instruction.
struct recorded_sample {
  std::uint32_t process = 0;
  recording::section_sample of{};
  std::vector<recording::touched_line> lines;  ///< by address
};

struct recorded_module {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  bool executable = false;
  std::string path;  ///< empty: code without a file

  bool operator==(const recorded_module&) const = default;
};

struct recorded_process {
  std::int32_t id = 0;
  std::vector<recorded_module> modules;
};

struct recording_contents {
  double ticks_per_us = 0;
  double run_ticks = 0;  ///< how long the program ran, as far as is known
  int failure = 0;       ///< the errno that ended recording; 0: none
  std::uint64_t lost_uses = 0;
  std::uint64_t lost_threads = 0;
  std::map<std::uint32_t, recorded_process> processes;  ///< by their number
  std::vector<recorded_use> uses;
  std::vector<recorded_sample> samples;
};

/// Throws recording_error.
[[nodiscard]] recording_contents read_recording(const std::filesystem::path& file);

}  // namespace unlatch::probe
