// SPDX-License-Identifier: Apache-2.0
//
// Stacks and registers: how the one thread of the host goes from one simulated thread to another,
// and back to where a transaction began.
//
// A context that waits is its stack pointer: the six registers that a call preserves, and then the
// address to return to, lie on its stack from there. begin of a transaction leaves the same shape,
// so resuming a thread whose stack has been restored resumes it at begin.
#pragma once

#include <cstdint>

namespace unlatch::lab::context {

/// Saves the running context's stack pointer in `*save` and resumes `to`, where the call that saved
/// it returns `value`.
extern "C" std::uint64_t unlatch_lab_switch(std::uintptr_t* save, std::uintptr_t to,
                                            std::uint64_t value) noexcept;

/// Calls `function` on a stack of the simulator's own and never returns: for what overwrites the
/// stack of the thread that runs.
[[noreturn]] void leave_for(void (*function)()) noexcept;

/// The stack pointer of a context that will call `function`, which never returns, at `top`.
std::uintptr_t prepare(std::uintptr_t top, void (*function)()) noexcept;

/// Thread-local storage.
std::uintptr_t storage() noexcept;
void set_storage(std::uintptr_t base) noexcept;

}  // namespace unlatch::lab::context
