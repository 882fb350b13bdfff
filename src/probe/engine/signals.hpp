// SPDX-License-Identifier: Apache-2.0
//
// The signals that the engine lives by: SIGILL brings it an XBEGIN, faults abort transactions, and
// stop_signal stops threads. What of these is the program's own goes to the program's handlers.
//
// Thread safety: the program's actions are under a lock that is only held for a few stores, with
// all signals blocked.
#pragma once

#include <signal.h>

#include <cstdint>

#include "src/probe/engine/other_threads.hpp"

namespace unlatch::probe::engine {

constexpr std::uint64_t signal_bit(int number) noexcept { return std::uint64_t{1} << (number - 1); }

/// The signals that must never be blocked where transactions may begin or threads must stop.
inline constexpr std::uint64_t kept_signals = signal_bit(SIGILL) | signal_bit(SIGSEGV) |
                                              signal_bit(SIGBUS) | signal_bit(SIGFPE) |
                                              signal_bit(SIGTRAP) | signal_bit(stop_signal);
/// What is blocked while a thread waits for the engine or owns it.
inline constexpr std::uint64_t mask_in_transactions = ~kept_signals;

/// An action as the kernel takes it.
struct kernel_action {
  void (*handler)(int, siginfo_t*, void*);
  std::uint64_t flags;
  void (*restorer)();
  std::uint64_t mask;
};

/// Installs the handlers; the actions before become the program's.
void install_handlers() noexcept;

/// Whether the program's action for `number` is kept here instead of in the kernel.
[[nodiscard]] bool is_kept(int number) noexcept;

/// Changes (unless `to` is null) and tells (unless `before` is null) the program's action for a
/// kept signal.
void change_program_action(int number, const kernel_action* to, kernel_action* before) noexcept;

}  // namespace unlatch::probe::engine
