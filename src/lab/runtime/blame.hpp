// SPDX-License-Identifier: Apache-2.0
//
// Who is to blame for an abort: both sides of a conflict, the set that overflowed, the instruction.
#pragma once

#include "../blame_records.hpp"
#include "hierarchy.hpp"
#include "machine.hpp"

namespace unlatch::lab::blame {

/// `me` asks for a line of the victim's transaction.
void note_conflict(cpu& victim, const request& wanted, const cpu& me) noexcept;
/// A line of the victim's transaction leaves what tracks it. `code` made it leave; 0 if unknown.
void note_capacity(cpu& victim, abort_reason why, std::uint32_t line, std::uintptr_t code) noexcept;
/// The running transaction aborts itself for any other reason, at `code`.
void note_abort(cpu& me, std::uint32_t status, abort_reason why, std::uintptr_t code) noexcept;

void begin_run() noexcept;
/// What was noted, the most expensive first.
void end_run(blame_lists& out) noexcept;

}  // namespace unlatch::lab::blame
