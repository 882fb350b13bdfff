// SPDX-License-Identifier: Apache-2.0
//
// Finding the instructions of the program's code that must be replaced because they do not trap:
// XBEGIN and CPUID.
//
// Where TSX is switched off by the kernel or the firmware, XBEGIN is no illegal instruction: it
// aborts at once, with 0 in EAX, and nobody is told (Intel 64 Software Developer's Manual, volume
// 4, IA32_TSX_CTRL).
//
// Their two bytes may also lie within another instruction. A place counts if the instruction is
// found there by decoding from the start of its function, which the unwind tables tell
// (.eh_frame_hdr). An XBEGIN must also lead to code of the same object.
#pragma once

#include <cstdint>

#include "src/probe/engine/loaded_objects.hpp"

namespace unlatch::probe::engine {

/// Whether XBEGIN raises SIGILL here. Installs a handler of its own for that time: before other
/// threads are there.
[[nodiscard]] bool xbegin_traps() noexcept;

/// What is looked for, and what is to be called with the address of each; null: not looked for.
struct sought_instructions {
  void (*xbegin)(std::uint64_t address);
  void (*cpuid)(std::uint64_t address);
};

/// Calls back for every such instruction in the object. Milliseconds: it reads all code. Uses
/// vector registers: call it where the ABI lets a function change them. The object must stay.
void find_instructions(const loaded_object& object, const sought_instructions& sought) noexcept;

}  // namespace unlatch::probe::engine
