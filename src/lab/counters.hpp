// SPDX-License-Identifier: Apache-2.0
//
// What is counted while a machine is simulated. Plain numbers: the runtime adds them up and hands
// them out through lab.hpp.
#pragma once

#include <cstdint>

namespace unlatch::lab {

/// The counters of one CPU, or their sum. The names in comments are those of Linux's perf for the
/// machines that have them.
struct counters {
  std::uint64_t accesses = 0;  ///< reads and writes of memory, however large
  std::uint64_t stack_accesses = 0;
  std::uint64_t atomics = 0;
  std::uint64_t l1_misses = 0;
  std::uint64_t l2_misses = 0;
  std::uint64_t l3_misses = 0;
  std::uint64_t transfers = 0;      ///< lines that came from another core's cache
  std::uint64_t upgrades = 0;       ///< lines that others held and this CPU wanted to write
  std::uint64_t stall_cycles = 0;   ///< waiting for memory beyond the L1
  std::uint64_t queue_cycles = 0;   ///< of these, waiting for others' transfers of the line
  std::uint64_t started = 0;        ///< rtm_retired.start (outermost)
  std::uint64_t committed = 0;      ///< rtm_retired.commit
  std::uint64_t aborted = 0;        ///< rtm_retired.aborted
  std::uint64_t hle_started = 0;    ///< hle_retired.start
  std::uint64_t hle_committed = 0;  ///< hle_retired.commit
  std::uint64_t hle_aborted = 0;    ///< hle_retired.aborted
  /// By abort_reason: conflict, write capacity, read capacity, explicit, nesting, instruction,
  /// system call, page fault, interrupt, injected.
  std::uint64_t aborts[10] = {};
  std::uint64_t cycles_in_transactions = 0;  ///< cycles-t
  std::uint64_t cycles_committed = 0;        ///< cycles-ct
  std::uint64_t cycles_busy = 0;             ///< with a thread to run
  std::uint64_t context_switches = 0;
  std::uint64_t migrations = 0;
  std::uint64_t interrupts = 0;
  std::uint64_t page_faults = 0;
  std::uint64_t system_calls = 0;
  std::uint64_t host_switches = 0;  ///< of the simulator from one CPU to another
  std::uint64_t allocations = 0;

  /// As perf counts them on Haswell: memory (conflicts, capacity), instructions, and the rest.
  [[nodiscard]] std::uint64_t misc1() const noexcept { return aborts[0] + aborts[1] + aborts[2]; }
  [[nodiscard]] std::uint64_t misc2() const noexcept { return aborts[4]; }
  [[nodiscard]] std::uint64_t misc3() const noexcept { return aborts[5] + aborts[6] + aborts[7]; }
  [[nodiscard]] std::uint64_t misc4() const noexcept { return 0; }
  [[nodiscard]] std::uint64_t misc5() const noexcept { return aborts[8] + aborts[9]; }

  counters& operator+=(const counters& other) noexcept {
    const auto* from = reinterpret_cast<const std::uint64_t*>(&other);
    auto* to = reinterpret_cast<std::uint64_t*>(this);
    for (unsigned i = 0; i < sizeof(counters) / sizeof(std::uint64_t); ++i) to[i] += from[i];
    return *this;
  }
};

}  // namespace unlatch::lab
