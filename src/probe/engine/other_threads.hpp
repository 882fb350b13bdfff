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

/// Marks the calling thread, `me`, as waiting for the engine: it runs nothing of the program's
/// until it owns the engine, so nobody needs to stop it. The caller blocks all signals that have
/// handlers of the program's.
class waiting_thread {
 public:
  explicit waiting_thread(int me) noexcept;
  ~waiting_thread();
  waiting_thread(const waiting_thread&) = delete;
  waiting_thread& operator=(const waiting_thread&) = delete;

 private:
  int* place_;  ///< null if there was none: then it is stopped like others
};

/// Lets them go on.
void resume_other_threads() noexcept;

/// Forgets what the parent process was doing. In a new process.
void forget_other_threads() noexcept;

/// The handler of stop_signal. A thread that it interrupts in a system call which would have
/// blocked or been repeated stays a millisecond longer, so that a sleeping thread is not woken for
/// every transaction.
void on_stop_signal(bool in_system_call) noexcept;

}  // namespace unlatch::probe::engine
