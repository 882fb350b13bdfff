// SPDX-License-Identifier: Apache-2.0
//
// How transactions end in failure: by another CPU's request for a line, by a line that leaves the
// cache, or by what the CPU itself does.
//
// Invariants: the victim of another CPU waits inside a hook, before the access that the hook told
// of; its memory, stack and registers are put back at once and it goes on at begin, at the time of
// the request. A CPU that aborts itself leaves its stack first, since that is overwritten.
#pragma once

#include "machine.hpp"

namespace unlatch::lab {

struct request;

/// Another CPU's transaction has the line that `me` asks for.
void abort_for(cpu& victim, const request& wanted, const cpu& me) noexcept;

/// A line of a CPU's transaction leaves what tracks it. Takes effect at finish_losses().
void lose(cpu& victim, abort_reason why, std::uint32_t line) noexcept;
/// Aborts whoever lost a line during this access; does not return if it was the running CPU.
/// `code` is the address of the instruction that made it.
void finish_losses(std::uintptr_t code) noexcept;

/// The access is the first to its page: a page fault, which a transaction does not survive.
void first_touch(cpu& me, const request& wanted) noexcept;

/// Aborts a transaction of a CPU that does not run, at time `at`; for interrupts and experiments.
void abort_other(cpu& victim, std::uint32_t status, abort_reason why, cycles at) noexcept;

/// Aborts the running CPU's transaction: control goes to where it began. `code` is the address of
/// the instruction that did it. REQUIRES: it is in a transaction.
[[noreturn]] void abort_self(std::uint32_t status, abort_reason why, std::uintptr_t code) noexcept;

}  // namespace unlatch::lab
