// SPDX-License-Identifier: Apache-2.0
//
// Finding the XBEGIN instructions of the program's code, for CPUs on which they do not trap.
//
// Where TSX is switched off by the kernel or the firmware, XBEGIN is no illegal instruction: it
// aborts at once, with 0 in EAX, and nobody is told (Intel 64 Software Developer's Manual, volume
// 4, IA32_TSX_CTRL).
//
// Its two bytes may also lie within another instruction. A place counts as XBEGIN if one is found
// there by decoding from the start of its function, which the unwind tables tell (.eh_frame_hdr),
// and if it leads to code of the same object.
#pragma once

#include <cstdint>

namespace unlatch::probe::engine {

/// Whether XBEGIN raises SIGILL here. Installs a handler of its own for that time: before other
/// threads are there.
[[nodiscard]] bool xbegin_traps() noexcept;

/// Calls `found` for every XBEGIN in the objects that are loaded, but this one. Milliseconds: it
/// reads all code. Not while other threads are stopped.
void find_xbegins(void (*found)(std::uint64_t address)) noexcept;

}  // namespace unlatch::probe::engine
