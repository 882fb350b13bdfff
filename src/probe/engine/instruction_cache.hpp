// SPDX-License-Identifier: Apache-2.0
//
// Decoded instructions by address. An instruction whose code has changed since is decoded anew.
//
// Holds what the engine's owner holds; no locks, no memory from elsewhere.
#pragma once

#include "src/probe/engine/instruction.hpp"

namespace unlatch::probe::engine {

/// The instruction at `address`, with a slot if it needs one; null if there are no instruction's
/// bytes. Valid until the next call. Faults as the program would if there is no code at `address`
/// (program_memory.hpp). Some nanoseconds; a microsecond and a copy of the vector registers if it
/// must be decoded.
[[nodiscard]] const instruction* instruction_at(std::uint64_t address) noexcept;

/// How often instruction_at() had to decode.
[[nodiscard]] std::uint64_t decoded_instructions() noexcept;

}  // namespace unlatch::probe::engine
