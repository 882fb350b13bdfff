// SPDX-License-Identifier: Apache-2.0
//
// Executing a section instruction by instruction, to see what a transaction would have to do.
//
// One thread of a process steps at a time; the others run as ever. Stepping begins behind the
// acquisition of a lock and pauses where the program enters one of the profiler's functions, which
// then runs natively. Signals are blocked while it steps, but for those that faults raise; a fault
// is undone and comes again natively. Nothing needs to be undone otherwise: stepping does what the
// program does.
//
// How much is stepped is bound by time: after a section that took t, and others that wait for its
// lock as long, none begins for 2 x 99 t if one percent is asked for; and as sections pile up, for
// longer.
//
// Thread safety: any thread. `thread` is always the calling one.
#pragma once

#include <cstdint>

#include "src/probe/recorder/process.hpp"

namespace unlatch::probe::recorder {

/// Prepares the engine, if sampling is asked for. Once, when the object is loaded.
void prepare_sampling() noexcept;

/// Whether it is time to step the section that begins with this acquisition of `use`, whose turn
/// it is by count.
[[nodiscard]] bool is_sampled_now(recorded_thread& thread, recording::lock_use& use) noexcept;

/// Whether the section that begins with this acquisition of `use` is to be stepped: it is time, and
/// nobody else steps. If so the thread has the engine, and must call step_on().
[[nodiscard]] inline bool is_sampled(recorded_thread& thread, recording::lock_use& use) noexcept {
  if (__builtin_expect(use.until_sample > 1, 1)) {
    --use.until_sample;
    return false;
  }
  return is_sampled_now(thread, use);
}

/// Steps on from where this returns to, if the thread's section is being stepped. Everything that
/// stands in front of a function calls this last.
void step_on(recorded_thread& thread) noexcept;

/// The thread has taken another lock, or the same again.
void note_nested(recorded_thread& thread, std::uint64_t lock) noexcept;

/// The thread has given `lock` back: if its section was stepped, records it.
void end_sample(recorded_thread& thread, std::uint64_t lock, recording::sample_end how) noexcept;

/// The thread ends: forgets its section if that is still being stepped.
void abandon_sample(recorded_thread& thread) noexcept;

/// Whether somebody steps a section of `lock`.
[[nodiscard]] bool is_being_sampled(std::uint64_t lock) noexcept;

/// If a fault at `interrupted` (a ucontext_t) is one of the code that is stepped, lets it come
/// again natively.
[[nodiscard]] bool undo_fault(void* interrupted) noexcept;

}  // namespace unlatch::probe::recorder
