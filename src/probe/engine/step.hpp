// SPDX-License-Identifier: Apache-2.0
//
// Executing one instruction of the program: from a copy if it only works on registers and memory,
// in C++ if it changes the instruction pointer. No traps.
//
// Holds what the engine's owner holds: unlatch_context and the footprint.
#pragma once

#include "src/probe/engine/instruction.hpp"

namespace unlatch::probe::engine {

enum class step_result : std::uint8_t {
  done,
  does_not_fit,  ///< not executed: what it accesses does not fit into the footprint
};

/// Notes what `next` accesses, then executes it. It is the instruction at the context's ip, and
/// none of begin, end, abort, test and not_stepped, nor unfriendly unless it `is_stepped`. Faults
/// as the program would, either in a slot or in program_memory.hpp. Some 20 ns.
[[nodiscard]] step_result step(const instruction& next) noexcept;

}  // namespace unlatch::probe::engine
