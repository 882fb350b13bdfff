// SPDX-License-Identifier: Apache-2.0
//
// Whose turn it is to run a transaction: the lock that the engine is under.
#pragma once

namespace unlatch::probe::engine {

/// Prepares the turn for this process. Once.
void prepare_turn() noexcept;

/// Waits until nobody owns the engine, and owns it. The caller blocks all signals that may have
/// handlers of the program's. In a process that was forked while another thread's transaction ran,
/// forgets that first.
void take_turn() noexcept;

void give_turn() noexcept;

}  // namespace unlatch::probe::engine
