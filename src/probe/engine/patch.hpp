// SPDX-License-Identifier: Apache-2.0
//
// What stands in the program's code instead of an XBEGIN: a jump to the engine, which costs no trap
// and no signal frame, or UD2, which traps where XBEGIN does not. And instead of a CPUID that is to
// show RTM and does not trap: UD2.
//
// Only while all other threads are stopped (transaction.hpp): a stopped thread stands before or
// after the six bytes, never between, and fetches them anew when it goes on. One that has trapped
// at the XBEGIN and waits for its turn in the handler comes back to the jump.
#pragma once

#include "src/probe/engine/call_sites.hpp"
#include "src/probe/engine/instruction.hpp"

namespace unlatch::probe::engine {

/// Bytes of an XBEGIN with a displacement of 32 bits, which is what a jump takes, and one more.
inline constexpr unsigned xbegin_bytes = 6;

/// Writes code by way of /proc/self/mem, so that pages keep their protection. False if it cannot
/// be.
bool write_code(std::uint64_t address, const std::uint8_t* code, unsigned bytes) noexcept;

/// Replaces the XBEGIN at `address`, which does not trap: by a jump if `settings` allow it, else by
/// UD2.
void replace_xbegin(std::uint64_t address, const emulation_settings& settings) noexcept;

/// Replaces the CPUID at `address`, which does not trap, by UD2.
void replace_cpuid(std::uint64_t address) noexcept;

/// Counts a begin, and replaces the XBEGIN by a jump if there have been enough and `settings` allow
/// it.
void replace_if_hot(site_memory& site, const emulation_settings& settings) noexcept;

/// Where the XBEGIN at `address`, replaced or not, leads after an abort.
[[nodiscard]] std::uint64_t abort_handler_of(std::uint64_t address) noexcept;

/// Whether `what` stands where an XBEGIN stood.
[[nodiscard]] bool replaces_xbegin(const instruction& what) noexcept;

/// What stands at `address` where a thread has just trapped, without owning the engine.
[[nodiscard]] replacement replacement_at(std::uint64_t address) noexcept;

}  // namespace unlatch::probe::engine
