// SPDX-License-Identifier: Apache-2.0
//
// Which CPU runs next, and which of its threads: the part of the scheduler below scheduler.hpp.
//
// Invariants:
//   1. The CPU that runs has the smallest clock, but for private hits, which may run ahead of the
//      next one by at most the.run_ahead cycles, and but for computation between two accesses.
//   2. Timers go before CPUs with an equal clock.
//   3. A thread that waits in a queue was ready at `ready_at`; the CPU's clock is at least that
//   when
//      it starts.
#pragma once

#include "machine.hpp"

namespace unlatch::lab::dispatch {

/// Resumes the CPU that is next, from the simulator's own stack.
[[noreturn]] void resume_next() noexcept;

/// Resumes the CPU that is next; returns when `me`, the running thread, is resumed.
void switch_from(thread& me) noexcept;

/// A CPU's clock has been set by somebody else.
void clock_changed(cpu& which) noexcept;

/// Whether its affinity lets a thread run on a CPU.
inline bool allows(const thread& which, const cpu& where) noexcept {
  return (which.affinity[where.number / 64] >> (where.number % 64) & 1) != 0;
}

/// Makes a thread ready at time `at`, on a CPU that suits it.
void make_ready(thread& which, cycles at) noexcept;

/// The running CPU's thread stops to be its current one; another of its queue becomes it, or it
/// idles.
void leave_cpu(cpu& me) noexcept;

/// Puts the running thread behind the others of its CPU's queue. REQUIRES: the queue is not empty.
void requeue(cpu& me) noexcept;

/// Wakes `which` at `at`, unless its timer's generation has changed by then.
void set_timer(thread& which, cycles at) noexcept;

/// Begins and ends a run: all CPUs idle, no timers.
void reset() noexcept;
/// Gives control to the simulation until finish() is called.
void enter() noexcept;
[[noreturn]] void finish() noexcept;

}  // namespace unlatch::lab::dispatch
