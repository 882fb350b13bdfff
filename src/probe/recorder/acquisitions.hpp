// SPDX-License-Identifier: Apache-2.0
//
// What the profiler's functions tell the recorder: locks taken, given back and waited for.
//
// How long a lock is held is taken for some acquisitions only, spread evenly over all of a row:
// reading the time-stamp counter twice costs as much as an uncontended lock.
//
// Thread safety: each thread for itself; also from signal handlers.
#pragma once

#include <errno.h>

#include <cstdint>

#include "src/probe/recorder/process.hpp"

namespace unlatch::probe::recorder {

[[nodiscard]] inline std::uint64_t ticks() noexcept { return __builtin_ia32_rdtsc(); }

/// How an attempt to take a lock went.
struct attempt {
  int result;          ///< what the real function returned
  bool contended;      ///< the lock was not free at first
  bool by_sample;      ///< because its holder was being stepped
  std::uint64_t wait;  ///< ticks from then until the result; 0 if it was free

  /// Whether the caller owns the lock now. A robust mutex is owned after its owner died, too.
  [[nodiscard]] bool acquired() const noexcept { return result == 0 || result == EOWNERDEAD; }
};

/// `thread` has taken `lock`, or tried to, in a call that returns to `site`. If its section is to
/// be stepped, that begins at the next step_on().
void note_attempt(recorded_thread& thread, std::uint64_t lock, std::uint64_t site,
                  recording::lock_kind kind, const attempt& went) noexcept;

/// `thread` is about to give `lock` back.
void note_release(recorded_thread& thread, std::uint64_t lock) noexcept;

}  // namespace unlatch::probe::recorder
