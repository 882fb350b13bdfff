// SPDX-License-Identifier: Apache-2.0
//
// Sleeping threads and when they wake: a heap by time, then by the order in which they were set.
#pragma once

#include "machine.hpp"

namespace unlatch::lab::timers {

/// When the first timer fires, or `never`.
inline cycles next() noexcept { return the.first_timer; }
/// Sets a timer. A thread has at most one; setting another, or being woken, makes it void.
void add(thread& which, cycles at) noexcept;
/// Takes the first timer; makes its thread ready unless the timer is void.
void fire() noexcept;
void reset() noexcept;

}  // namespace unlatch::lab::timers
