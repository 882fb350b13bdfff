// SPDX-License-Identifier: Apache-2.0
//
// What comes from outside a thread and takes its CPU from it: timer interrupts at a fixed period,
// others at random times, the end of its quantum, and the hardware thread beside it.
//
// Invariants: a CPU's interrupts depend on the seed, its number and its own clock only. An
// interrupt is taken at the first access, fence, pause or system call at or after its time.
#pragma once

#include "machine.hpp"

namespace unlatch::lab::interrupts {

/// Draws the phases of a CPU's interrupts.
void begin_run(cpu& which) noexcept;

/// When something next comes that takes the CPU from its thread.
inline cycles next_event(const cpu& which) noexcept {
  return which.queued != 0 && which.slice_end < which.next_interrupt ? which.slice_end
                                                                     : which.next_interrupt;
}

/// Takes what has come. Aborts a running transaction, and then does not return.
void take(cpu& me, std::uintptr_t code) noexcept;

/// A CPU that has idled took its interrupts meanwhile.
void skip_idle_time(cpu& which) noexcept;

/// An interrupt from another CPU, now: aborts the transaction of a CPU that does not run.
void send(cpu& to) noexcept;

/// Charges what the CPU did since it was last charged more, if its sibling runs beside it.
inline void slow_down_by_sibling(cpu& me) noexcept {
  if (me.sibling == nullptr) return;
  cycles& clock = clock_of(me);
  if (me.sibling->current != nullptr && clock > me.slowed_until) {
    clock += (clock - me.slowed_until) * the.rules.core.sibling_slowdown / 1000;
  }
  me.slowed_until = clock;
}

}  // namespace unlatch::lab::interrupts
