// SPDX-License-Identifier: Apache-2.0
//
// The counts of the places where transactions begin.
//
// The caller owns the engine. The table is shared with other processes (emulation_area.hpp).
#pragma once

#include "src/probe/emulation_area.hpp"

namespace unlatch::probe::engine {

/// What stands where an XBEGIN or a CPUID stood.
enum class replacement : std::uint8_t {
  none,        ///< the instruction itself, which traps
  trap,        ///< UD2 in the first two bytes of an XBEGIN
  jump,        ///< a jump to the engine
  cpuid_trap,  ///< UD2 for a CPUID
};

/// What this process remembers of a place, beside its counts.
struct site_memory {
  std::uint64_t address;   ///< of the instruction; 0: not used
  std::uint64_t handler;   ///< where the XBEGIN leads after an abort
  std::uint8_t* approach;  ///< what a jump that replaces it leads to; null: none yet
  call_site* shared;       ///< null before it first runs, and if the table has no room
  std::uint64_t begun;
  std::uint64_t longest;     ///< instructions of its longest section
  std::uint64_t next_abort;  ///< with abort_each: the instruction at which to abort next
  replacement now;
  bool cannot_be_patched;
};

/// The memory of the XBEGIN at `address`, new if need be. Null if there are too many.
[[nodiscard]] site_memory* site_at(std::uint64_t address) noexcept;

/// The counts of the site; null if the table has no room. Reads /proc/self/maps the first time,
/// tens of microseconds.
[[nodiscard]] call_site* counts_of(emulation_area& area, site_memory& site) noexcept;

/// The memory of a site that is known already; null if it is not.
[[nodiscard]] site_memory* known_site(std::uint64_t address) noexcept;

/// Notes the first instruction that aborted a transaction of this site.
void note_blocker(call_site& site, const char* mnemonic) noexcept;

}  // namespace unlatch::probe::engine
