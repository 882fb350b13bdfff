// SPDX-License-Identifier: Apache-2.0
#include "lab/runtime/os/clock_times.hpp"

#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/thread_record.hpp"

namespace unlatch::lab::os {
namespace {

constexpr std::uint64_t billion = 1'000'000'000;
constexpr std::uint64_t boot_to_start = 1'000 * billion;
/// Longer than any run; below it, nanoseconds and cycles do not overflow 64 bits.
constexpr std::uint64_t longest = std::uint64_t{1} << 50;

std::uint64_t start_of(clockid_t clock) noexcept {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return start_of_time * billion;
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID:
      return 0;
    default:
      return boot_to_start;
  }
}

}  // namespace

timespec time_of(clockid_t clock) noexcept {
  const std::uint64_t time = start_of(clock) + scheduler::nanoseconds(scheduler::now());
  timespec result{};
  result.tv_sec = static_cast<time_t>(time / billion);
  result.tv_nsec = static_cast<long>(time % billion);
  return result;
}

cycles deadline_at(clockid_t clock, const timespec& until) noexcept {
  if (!valid(until)) return 0;
  const auto seconds = static_cast<std::uint64_t>(until.tv_sec);
  const std::uint64_t start = start_of(clock);
  if (seconds >= (start + longest) / billion) return futex::never;
  const std::uint64_t time = seconds * billion + static_cast<std::uint64_t>(until.tv_nsec);
  // Rounded up, so that nobody wakes before the clock shows the time.
  return time <= start ? 0 : scheduler::from_nanoseconds(time - start) + 1;
}

cycles deadline_after(const timespec& span) noexcept {
  const auto seconds = static_cast<std::uint64_t>(span.tv_sec);
  if (seconds >= longest / billion) return futex::never;
  return scheduler::now() +
         scheduler::from_nanoseconds(seconds * billion + static_cast<std::uint64_t>(span.tv_nsec));
}

void sleep_until(cycles deadline) noexcept {
  const waiting_for reason(reason::sleep, nullptr);
  while (scheduler::now() < deadline) {
    if (deadline == futex::never) {
      scheduler::block();
    } else {
      scheduler::block_until(deadline);
    }
  }
}

}  // namespace unlatch::lab::os
