// SPDX-License-Identifier: Apache-2.0
//
// The thread layer: putting a thread to sleep until a word changes, waking it, giving up the CPU,
// and the asymmetric barrier that lets an unlock be one plain store. Locks and the condition
// variable block through these functions and through nothing else, so another machine under the
// threads (a simulated one, say) replaces this file's implementation only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "unlatch/platform.hpp"

namespace unlatch::parking {

using clock = std::chrono::steady_clock;

/// Sleeps while `word` holds `expected`. May return at any time without reason. One system call.
void wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// As wait(), until `deadline` at the latest. Returns false if the deadline has passed.
bool wait_until(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                clock::time_point deadline) noexcept;

/// Wakes at most `count` threads that sleep on `word`. The word may be gone already: then it wakes
/// nobody, or causes a wait elsewhere to return without reason. One system call.
void wake(const std::atomic<std::uint32_t>* word, int count) noexcept;

/// Gives the CPU to another runnable thread. One system call.
void yield() noexcept;

/// Number of CPUs this process may run on, at least 1; asked once.
unsigned cpus() noexcept;

/// The heavy side of an asymmetric fence: when it returns true, every thread of this process has
/// executed a full memory barrier between the call and the return, so a thread that stored A and
/// then loaded B without a fence either has its A visible to the caller or will see what the caller
/// stored to B before the call. Returns false where the kernel has no such call; then a caller that
/// would sleep must sleep with a time limit. 1-5 microseconds: for the sleeping path only. Source:
/// membarrier(2), MEMBARRIER_CMD_PRIVATE_EXPEDITED.
bool barrier_in_all_threads() noexcept;

/// The light side: keeps the compiler from moving the load before the store. No instruction.
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// Spins until `ready()`, but no longer than `limit` ticks of timestamp(). Returns whether it is.
/// The owner of what it waits for may need this CPU, so it yields now and then.
template <class Ready>
bool wait_until(Ready ready, std::uint64_t limit) noexcept {
  if (ready()) return true;
  const std::uint64_t start = timestamp();
  for (unsigned looks = 1; !ready(); ++looks) {
    if (timestamp() - start >= limit) return false;
    cpu_relax();
    if (looks % 64 == 0) yield();
  }
  return true;
}

}  // namespace unlatch::parking
