// SPDX-License-Identifier: Apache-2.0
//
// The side of strategy.hpp that the machine calls.
#pragma once

#include "machine.hpp"
#include "strategy.hpp"

namespace unlatch::lab::explore {

/// The running thread comes to a scheduling point: remembers it, and lets the strategy choose who
/// goes on. Returns when this thread does; does not return if its transaction is made to abort.
void consider(scheduling_point::kind what, std::uintptr_t address, std::uint32_t bytes,
              std::uintptr_t code) noexcept;

/// The CPU that the strategy chooses now. REQUIRES: some CPU has a thread.
cpu* choose() noexcept;

void begin_run() noexcept;

}  // namespace unlatch::lab::explore
