// SPDX-License-Identifier: Apache-2.0
//
// The hook for exploring schedules: who decides which thread goes on, and which transactions abort,
// instead of the clocks.
//
// With a strategy set, time decides nothing: every access, fence, pause, begin and commit is a
// scheduling point, at which choose() names the CPU that goes on; every access in a transaction is
// put to inject(). Interrupts do not come. Sleepers wake only when nothing else can run. Use a
// model with at least as many CPUs as threads, so that every thread has one of its own.
//
// Invariants: a strategy is called from the simulator, never inside the simulated program; it is
// asked in the same order for the same answers, so a schedule is its list of answers.
#pragma once

#include <cstdint>

namespace unlatch::lab {

/// What the thread that asks is about to do.
struct scheduling_point {
  enum class kind : std::uint32_t { read, write, atomic, fence, pause, begin, commit, kernel };
  kind what;
  bool in_transaction;
  std::uint32_t thread;    ///< the number of the thread that asks
  std::uintptr_t address;  ///< of the access
  std::uint32_t bytes;
  std::uintptr_t code;  ///< the instruction
};

/// A thread that can go on.
struct runnable {
  std::uint32_t cpu;
  std::uint32_t thread;
  bool in_transaction;
  bool pausing;  ///< it last executed a pause and nothing has been written since that it could see
};

/// Plain functions, so that code built with any standard library can implement one.
struct strategy {
  void* state = nullptr;
  /// The index in `choices` of the thread to go on. `asking` is where the thread that ran last
  /// stands, whether it is among the choices or not.
  std::uint32_t (*choose)(void* state, const scheduling_point& asking, const runnable* choices,
                          std::uint32_t count) = nullptr;
  /// A status to abort the transaction with, or `no_abort`. May be null: never.
  std::uint32_t (*inject)(void* state, const scheduling_point& access) = nullptr;
  static constexpr std::uint32_t no_abort = ~0u;
};

}  // namespace unlatch::lab
