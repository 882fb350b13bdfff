// SPDX-License-Identifier: Apache-2.0
//
// What the recorder keeps of a process. The memory is zero in a child after a fork.
#pragma once

#include <atomic>
#include <cstdint>

#include "src/probe/profile/recording.hpp"

namespace unlatch::probe::recorder {

struct recorded_thread;

struct process_memory {
  static constexpr std::uint32_t most_known = 1024;
  static constexpr std::uint32_t maps_bytes = 16384;
  enum state_of_start : std::uint32_t { not_started, starting, started, failed };

  std::atomic<std::uint32_t> state;
  std::uint32_t number;  ///< in the recording, from 1
  std::atomic<recorded_thread*> threads;
  std::atomic<std::uint32_t> thread_count;

  // sampling.cpp
  std::atomic<recorded_thread*> sampler;    ///< the thread that has the engine
  std::atomic<std::uint64_t> sampled_lock;  ///< the lock whose section is being stepped; or 0
  std::atomic<std::uint64_t> next_sample;   ///< time-stamp counter: not before
  std::uint64_t first_sample;               ///< time-stamp counter
  recording::block_head* samples;

  // modules.cpp
  struct range {
    std::uint64_t begin, end;
  };
  std::atomic<bool> reading_maps;
  std::uint32_t maps_read;
  std::uint32_t known_count;
  range known[most_known];
  recording::block_head* modules;
  char maps_text[maps_bytes];
};

/// Only after start_recording() has succeeded.
[[nodiscard]] process_memory& this_process() noexcept;

}  // namespace unlatch::probe::recorder
