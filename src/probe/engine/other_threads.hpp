// SPDX-License-Identifier: Apache-2.0
//
// Stopping all other threads of the process while a transaction runs, so that they see all of it or
// nothing. On hardware a conflict would abort it instead.
//
// Every task in /proc/self/task gets a real-time signal, whose handler says so and waits. That
// finds threads however they were made. A thread that starts another before the signal reaches it
// is caught by listing once more, until a listing brings nothing new: who is stopped starts nobody.
//
// The caller owns the engine. The memory that is shared with the handlers is static.
#pragma once

#include <cstdint>

namespace unlatch::probe::engine {

/// The signal that stops threads: the last real-time signal.
inline constexpr int stop_signal = 64;

/// Returns when all other threads have stopped. False if one does not, for instance because it
/// blocks the signal by a system call of its own making; then none is stopped. `me` is the caller's
/// thread id. 2 system calls for one thread; a signal, its handler, and two switches for each
/// other.
[[nodiscard]] bool stop_other_threads(int me) noexcept;

/// Lets them go on.
void resume_other_threads() noexcept;

/// Forgets what the parent process was doing. In a new process.
void forget_other_threads() noexcept;

/// The handler of stop_signal.
void on_stop_signal() noexcept;

}  // namespace unlatch::probe::engine
