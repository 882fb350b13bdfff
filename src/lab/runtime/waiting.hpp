// SPDX-License-Identifier: Apache-2.0
//
// Spin loops: what a pause does to the CPU that executes it, and how a CPU that waits is passed
// over until something changes.
//
// A thread that comes to the same pause again in the same state, having written nothing and read
// nothing but its L1, will do the same again and again, until another CPU takes one of its lines or
// an interrupt comes. Its CPU sleeps until then: its clock is set to the first pause after the next
// interrupt, and back to the last pause before another CPU's request if one comes first; that CPU
// lets it go on from there before it makes the request. The same state means: the same registers
// and the same bytes on its stack; so a loop that counts or looks at the clock never sleeps.
//
// Invariants: sleeping changes no outcome, but for the number of accesses counted, and within the
// bounds of the run-ahead, which a CPU that sleeps does not hold back.
#pragma once

#include "machine.hpp"

namespace unlatch::lab::waiting {

/// A pause outside transactions. `code` is where it stands.
void pause(std::uintptr_t code) noexcept;

/// Something that a CPU may have looked at changes at `at`: if it sleeps, its sleep ends at the
/// last pause before; if not, its next pause is not the end of an unchanged round.
void wake(cpu& which, cycles at) noexcept;

/// Before `me`, which runs, makes an access: wakes whom it concerns. Whether somebody was woken who
/// is behind, so that the caller must let others catch up.
bool wake_for(const cpu& me, std::uint32_t line, bool write, bool in_l1) noexcept;

void begin_run() noexcept;

}  // namespace unlatch::lab::waiting
