// SPDX-License-Identifier: Apache-2.0
//
// Where copies of instructions run. A slot holds one, followed by a jump to unlatch_leave_slot.
//
// Holds what the engine's owner holds; no locks. Pages of slots are mapped when they are needed,
// near the data of an instruction that addresses it relative to RIP, and stay.
#pragma once

#include <cstdint>

#include "src/probe/engine/instruction.hpp"

namespace unlatch::probe::engine {

/// Writes `what` into its slot, or into another one if it has none or that one is too far from the
/// operand. False if no slot can be had. Microseconds; a system call if pages must be mapped.
[[nodiscard]] bool write_slot(instruction& what) noexcept;

/// Takes all slots back. No instruction may be run from the slot it has.
void reuse_slots() noexcept;

/// `bytes` of executable memory from which `target` can be reached by a jump or an operand; null if
/// none can be had. It is never given back.
[[nodiscard]] std::uint8_t* executable_memory_near(std::uint64_t target, unsigned bytes) noexcept;

/// Whether `ip` lies in executable memory of the above.
[[nodiscard]] bool in_slot(std::uint64_t ip) noexcept;

}  // namespace unlatch::probe::engine
