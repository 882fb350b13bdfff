// SPDX-License-Identifier: Apache-2.0
//
// Threads that count under locks, one at random each time: how locks compare when few or many of
// them are shared (Schrimpf 2014, section 2.4).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "studies/random.hpp"
#include "studies/studies.hpp"
#include "studies/window.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {

/// What threads did that counted under locks.
struct locked_counts {
  measurement measured;
  std::uint64_t lost = 0;  ///< increments that the counters do not show
};

/// The threads of `one` increment one of `count` counters, each beside a Lock of its own, for the
/// window `window_ms`. A Lock has lock(thread) and unlock(thread). The lock is held for `steps`
/// instructions that do nothing.
template <class Lock>
locked_counts count_under_locks(const cell& one, const std::stop_token& stop, std::size_t count,
                                std::uint64_t steps) {
  struct alignas(cache_line) slot {
    Lock lock;
    alignas(cache_line) volatile std::uint64_t value = 0;
  };
  const auto slots = std::make_unique<slot[]>(count);
  window during(std::chrono::milliseconds(one.params.at("window_ms")));
  std::atomic<std::uint64_t> increments{0};
  locked_counts result;
  result.measured = during.run(one.threads, stop, [&](unsigned thread) {
    random_numbers random(one.seed, thread);
    std::uint64_t done = 0;
    const auto counted = count_operations(during, [&] {
      slot& chosen = slots[random.below(count)];
      chosen.lock.lock(thread);
      const std::uint64_t before = chosen.value;
      for (std::uint64_t i = 0; i < steps; ++i) asm volatile("nop");
      chosen.value = before + 1;
      chosen.lock.unlock(thread);
      ++done;
    });
    increments += done;
    return counted;
  });
  result.lost = increments;
  for (std::size_t i = 0; i < count; ++i) result.lost -= slots[i].value;
  return result;
}

/// How many locks the case "locks-N" has; 1 for every other case.
inline std::size_t locks_of(const std::string& case_name) {
  if (case_name == "locks-100") return 100;
  return case_name == "locks-10" ? 10 : 1;
}

}  // namespace unlatch::studies
