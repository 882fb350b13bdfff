// SPDX-License-Identifier: Apache-2.0
//
// Reading clocks and sleeping. Reading one is no system call (as with the kernel's vDSO), so a
// transaction survives it; sleeping is one.
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"
#include "lab/runtime/os/run_state.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

/// The vDSO reads the time-stamp counter and converts it.
void charge_clock() noexcept { scheduler::charge(machine().core.timestamp + 20); }

void store(timespec* to, const timespec& value) noexcept {
  will_write(to, sizeof *to);
  *to = value;
}

int sleep(cycles deadline) noexcept {
  scheduler::enter_kernel();
  sleep_until(deadline);
  return 0;
}

}  // namespace

UNLATCH_LAB_INTERPOSE int clock_gettime(clockid_t clock, timespec* result) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(clock_gettime)(clock, result);
  charge_clock();
  store(result, time_of(clock));
  return 0;
}

UNLATCH_LAB_INTERPOSE int clock_getres(clockid_t clock, timespec* result) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(clock_getres)(clock, result);
  scheduler::enter_kernel();
  if (result != nullptr) store(result, timespec{0, 1});
  return 0;
}

UNLATCH_LAB_INTERPOSE int gettimeofday(timeval* __restrict result, void* __restrict zone) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(gettimeofday)(result, zone);
  charge_clock();
  const timespec now = time_of(CLOCK_REALTIME);
  will_write(result, sizeof *result);
  *result = timeval{now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

UNLATCH_LAB_INTERPOSE time_t time(time_t* result) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(time)(result);
  charge_clock();
  const time_t now = time_of(CLOCK_REALTIME).tv_sec;
  if (result != nullptr) write(*result, now);
  return now;
}

UNLATCH_LAB_INTERPOSE clock_t clock() noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(clock)();
  scheduler::enter_kernel();
  const timespec now = time_of(CLOCK_PROCESS_CPUTIME_ID);
  return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}

/// The simulated machine is in Greenwich, wherever the host is.
UNLATCH_LAB_INTERPOSE tm* localtime_r(const time_t* __restrict when,
                                      tm* __restrict result) noexcept {
  if (host_mode()) return UNLATCH_LAB_HOST(localtime_r)(when, result);
  scheduler::charge(100);
  const time_t copy = read(*when);
  will_write(result, sizeof *result);
  return gmtime_r(&copy, result);
}

UNLATCH_LAB_INTERPOSE int nanosleep(const timespec* span, timespec* rest) {
  if (host_mode()) return UNLATCH_LAB_HOST(nanosleep)(span, rest);
  const timespec copy = read(*span);
  if (!valid(copy)) {
    errno = EINVAL;
    return -1;
  }
  return sleep(deadline_after(copy));
}

UNLATCH_LAB_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, const timespec* span,
                                          timespec* rest) {
  if (host_mode()) return UNLATCH_LAB_HOST(clock_nanosleep)(clock, flags, span, rest);
  const timespec copy = read(*span);
  if (!valid(copy)) return EINVAL;
  return sleep((flags & TIMER_ABSTIME) != 0 ? deadline_at(clock, copy) : deadline_after(copy));
}

UNLATCH_LAB_INTERPOSE int usleep(useconds_t span) {
  if (host_mode()) return UNLATCH_LAB_HOST(usleep)(span);
  return sleep(deadline_after({span / 1'000'000, static_cast<long>(span % 1'000'000 * 1000)}));
}

UNLATCH_LAB_INTERPOSE unsigned sleep(unsigned seconds) {
  if (host_mode()) return UNLATCH_LAB_HOST(sleep)(seconds);
  sleep(deadline_after({static_cast<time_t>(seconds), 0}));
  return 0;
}
