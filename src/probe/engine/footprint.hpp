// SPDX-License-Identifier: Apache-2.0
//
// The lines that the running transaction has read and written, in the cache of the machine model,
// and what the written ones held before.
//
// Invariants
//   1. A written line is in the cache, and its old content in the undo log, before it is written.
//   2. The cache starts empty: with the least recently used way replaced, what was in it before
//      leaves it before any line of the transaction does.
//
// Holds what the engine's owner holds. Memory is static: no allocation.
#pragma once

#include <cstdint>

#include "src/probe/emulation_area.hpp"

namespace unlatch::probe::engine {

/// Sets the cache up. The settings are within the limits of emulation_area.hpp. Once.
void prepare_footprint(const emulation_settings& given) noexcept;

/// Empties all of it.
void begin_footprint() noexcept;

/// Puts back what the written lines held.
void undo_writes() noexcept;

}  // namespace unlatch::probe::engine
