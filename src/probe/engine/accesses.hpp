// SPDX-License-Identifier: Apache-2.0
//
// What stepping tells of the program's accesses to memory. Each object that uses the engine has its
// own: the emulator's is in footprint.cpp.
#pragma once

#include <cstdint>

namespace unlatch::probe::engine {

/// Notes an access to `bytes` at `address` that is about to be made. False if it must not be made:
/// the instruction is not executed then, as in a transaction whose lines do not fit any more. May
/// fault as the program would (program_memory.hpp).
[[nodiscard]] bool note_access(std::uint64_t address, std::uint64_t bytes, bool written) noexcept;

}  // namespace unlatch::probe::engine
