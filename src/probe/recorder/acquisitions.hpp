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
#include "src/probe/recorder/sampling.hpp"

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

/// Keeps handlers of signals, which may take locks, out of the thread's tables.
class busy_thread {
 public:
  explicit busy_thread(recorded_thread& thread) noexcept : thread_(thread) {
    thread_.busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~busy_thread() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_.busy = false;
  }
  busy_thread(const busy_thread&) = delete;
  busy_thread& operator=(const busy_thread&) = delete;

 private:
  recorded_thread& thread_;
};

/// One thread writes a counter: no locked instruction.
inline void add(recording::counter& to, std::uint64_t more) noexcept {
  to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Whether this acquisition of a row is timed: all of the first, then one in sixteen. The multiples
/// of the golden ratio fall evenly and follow no rhythm that a program may have.
[[nodiscard]] inline bool is_timed(std::uint64_t acquisition) noexcept {
  constexpr std::uint64_t first = 64;
  return acquisition <= first || acquisition * 0x9e37'79b9'7f4a'7c15u >> 60 == 0;
}

// The rare parts of the two functions below.
void note_contention(recording::lock_use& use, const attempt& went) noexcept;
void begin_holding(recorded_thread& thread, recording::lock_use& use) noexcept;
void end_holding(recorded_thread& thread, std::uint64_t lock) noexcept;

/// `thread` has taken `lock`, or tried to, in a call that returns to `site`. If its section is to
/// be stepped, that begins at the next step_on().
inline void note_attempt(recorded_thread& thread, std::uint64_t lock, std::uint64_t site,
                         recording::lock_kind kind, const attempt& went) noexcept {
  const busy_thread busy(thread);
  recording::lock_use* const use = thread.uses.find(lock, site, kind, thread.number);
  if (use == nullptr) return;
  if (__builtin_expect(went.result != 0 || went.wait != 0, 0)) {
    note_contention(*use, went);
    if (!went.acquired()) return;
  }
  add(use->acquired, 1);
  if (__builtin_expect(thread.sampling, 0)) note_nested(thread, lock);
  if (__builtin_expect(is_sampled(thread, *use), 0)) return;
  if (is_timed(use->acquired.load(std::memory_order_relaxed))) begin_holding(thread, *use);
}

/// `thread` is about to give `lock` back.
inline void note_release(recorded_thread& thread, std::uint64_t lock) noexcept {
  if (__builtin_expect(thread.held_count != 0, 0)) end_holding(thread, lock);
}

}  // namespace unlatch::probe::recorder
