// SPDX-License-Identifier: Apache-2.0
//
// The emulated transaction: from XBEGIN to its end, one at a time in the process.
//
// A thread that reaches XBEGIN takes the engine, waiting for its turn, stops the other threads, and
// runs the program's instructions one by one. What it writes is written in place; an abort puts
// memory and registers back. Signals are blocked meanwhile and delivered after the end, as if they
// had come then.
//
// Invariant: between own_engine() and the release no other thread of the process runs, so plain
// memory is enough for the engine.
#pragma once

#include "src/probe/emulation_area.hpp"
#include "src/probe/engine/context.hpp"

namespace unlatch::probe::engine {

/// Sets everything up for `area`, and replaces the XBEGINs of the loaded objects where they do not
/// trap. Once, before any transaction and before the program has threads.
void prepare_transactions(emulation_area& area) noexcept;

/// Takes the engine for a transaction that begins with the program's registers as they are in
/// `from`, its ip at the XBEGIN. The caller blocks mask_in_transactions (signals.hpp), had blocked
/// `signal_mask` before, and goes to unlatch_enter_engine next.
void own_engine(const registers& from, std::uint64_t signal_mask) noexcept;

/// Lets the engine abort the transaction when it is entered next: an instruction has faulted. The
/// handler of that fault goes to unlatch_enter_engine.
void abort_after_fault() noexcept;

}  // namespace unlatch::probe::engine
