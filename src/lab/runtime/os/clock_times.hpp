// SPDX-License-Identifier: Apache-2.0
//
// The clocks of the simulated machine: virtual time, in the forms in which programs give and get
// it.
//
// All clocks count virtual cycles at the model's frequency. CLOCK_REALTIME starts a run at a fixed
// date, the others at a fixed time after boot, so nothing of the host's time leaks in.
#pragma once

#include <cstdint>
#include <ctime>

#include "lab/runtime/scheduler.hpp"

namespace unlatch::lab::os {

/// What CLOCK_REALTIME shows when a run begins, in seconds: 1 January 2014.
inline constexpr std::uint64_t start_of_time = 1'388'534'400;

/// What a clock shows now.
timespec time_of(clockid_t clock) noexcept;

/// The moment at which a clock will show `until`, on scheduler::now()'s clock; futex::never if that
/// is too far away.
cycles deadline_at(clockid_t clock, const timespec& until) noexcept;

/// The moment after a span of time.
cycles deadline_after(const timespec& span) noexcept;

/// Sleeps until a moment.
void sleep_until(cycles deadline) noexcept;

inline bool valid(const timespec& time) noexcept {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < 1'000'000'000;
}

}  // namespace unlatch::lab::os
