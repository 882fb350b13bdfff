// SPDX-License-Identifier: Apache-2.0
#include "unlatch/parking.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace unlatch::parking {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4, "futex needs the bare word");

long futex(const std::atomic<std::uint32_t>* word, int operation, std::uint32_t value,
           const timespec* timeout) noexcept {
  return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, nullptr,
                 FUTEX_BITSET_MATCH_ANY);
}

bool register_membarrier() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  futex(&word, FUTEX_WAIT, expected, nullptr);
}

bool wait_until(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                clock::time_point deadline) noexcept {
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time, which is what steady_clock counts.
  const auto since_boot = deadline.time_since_epoch();
  if (since_boot.count() <= 0) return false;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(seconds.count());
  limit.tv_nsec = static_cast<long>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since_boot - seconds).count());
  return futex(&word, FUTEX_WAIT_BITSET, expected, &limit) == 0 || errno != ETIMEDOUT;
}

void wake(const std::atomic<std::uint32_t>* word, int count) noexcept {
  futex(word, FUTEX_WAKE, static_cast<std::uint32_t>(count), nullptr);
}

void yield() noexcept { sched_yield(); }

unsigned cpus() noexcept {
  static const unsigned count = [] {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
      if (const int n = CPU_COUNT(&set); n > 0) return static_cast<unsigned>(n);
    }
    return 1u;
  }();
  return count;
}

bool barrier_in_all_threads() noexcept {
  static const bool registered = register_membarrier();
  return registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace unlatch::parking
