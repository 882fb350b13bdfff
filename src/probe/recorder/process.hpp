// SPDX-License-Identifier: Apache-2.0
//
// The process that is recorded: what its threads share, and which of them are recorded.
//
// After a fork the child is another process: its memory for all this is zero then, by
// MADV_WIPEONFORK, whatever way it was forked and whatever its parent was doing.
//
// Thread safety: all functions may be called from any thread and from signal handlers.
#pragma once

#include <atomic>
#include <cstdint>

#include "src/probe/recorder/lock_uses.hpp"

namespace unlatch::probe::recorder {

/// A lock that a thread holds, and for how long it will be known.
struct held_lock {
  std::uint64_t lock;
  std::uint64_t since;  ///< time-stamp counter
  recording::lock_use* use;
};

/// What is recorded of one thread at a time. Zero after a fork.
struct recorded_thread {
  std::atomic<std::uint32_t> in_use;
  std::uint32_t number;  ///< in its process, from 1
  bool busy;             ///< inside of the recorder: a signal's handler that comes now must not be
  bool sampling;         ///< its section is being stepped, or is about to be again
  std::uint32_t held_count;
  held_lock held[8];  ///< whose time is taken; the last taken is the last
  lock_uses uses;
  recorded_thread* next;
};

/// Begins to record: reads the modules, opens the recording. Once, when the object is loaded.
void start_recording(const char* path) noexcept;

/// The calling thread if it is recorded, even if it is inside of the recorder; else null.
inline thread_local recorded_thread* recorded = nullptr;
[[nodiscard]] inline recorded_thread* current_thread() noexcept { return recorded; }

/// The calling thread, which begins to be recorded now; null while nothing can be recorded. Tens of
/// microseconds.
[[nodiscard]] recorded_thread* new_thread() noexcept;

/// The calling thread, which begins to be recorded if it was not; null while nothing can be
/// recorded, or if it is inside of the recorder.
[[nodiscard]] inline recorded_thread* this_thread() noexcept {
  recorded_thread* const known = recorded;
  // After a fork it is all zero.
  if (__builtin_expect(known != nullptr && known->in_use.load(std::memory_order_relaxed) != 0, 1)) {
    return known->busy ? nullptr : known;
  }
  return new_thread();
}

/// This process's number in the recording.
[[nodiscard]] std::uint32_t process_number() noexcept;

}  // namespace unlatch::probe::recorder
