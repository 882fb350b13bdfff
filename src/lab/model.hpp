// SPDX-License-Identifier: Apache-2.0
//
// A machine model: the constants by which the lab simulates a multicore machine.
//
// Models are data: machines/NAME.json gives every field below with its unit and its source;
// model_file.hpp reads and checks them. The simulator gets this struct and nothing else, so it
// holds plain numbers only: no pointers, no strings, nothing of a library that the simulated
// program could link as well.
//
// Logical CPUs are numbered socket by socket, and within a socket first one thread of every core,
// then their siblings. (Nießing's machine: 0-11 the cores of the first socket, 12-23 their
// siblings, 24-35 the cores of the second, 36-47 their siblings.)
#pragma once

#include <cstdint>

namespace unlatch::lab {

/// Logical CPUs and cores that a model may have.
inline constexpr std::uint32_t most_cpus = 128;
inline constexpr std::uint32_t most_cores = 64;

/// A share in thousandths; a chance in millionths.
using permille = std::uint32_t;
using per_million = std::uint32_t;

/// One level of the cache. A core has its own first and second level, a socket its third.
struct cache_level {
  /// Bytes of a cache line: transactions, caches and the directory all work in lines.
  static constexpr std::uint32_t line = 64;
  std::uint32_t bytes;  ///< of one cache: ways x line x sets; sets are a power of two in l1d and l2
  std::uint32_t ways;   ///< at most 32
  std::uint32_t latency;  ///< cycles from a load to its use when it hits here
  bool inclusive;         ///< a line that leaves it leaves the levels above as well

  [[nodiscard]] constexpr std::uint32_t sets() const { return bytes / line / ways; }
};

/// What an access costs that no cache of the core can serve, in cycles from a load to its use.
struct interconnect {
  std::uint32_t clean_in_other_core;    ///< another core of the socket holds the line unchanged
  std::uint32_t dirty_in_other_core;    ///< another core of the socket has written it
  std::uint32_t clean_in_other_socket;  ///< only another socket's caches hold it, unchanged
  std::uint32_t dirty_in_other_socket;  ///< a core of another socket has written it
  std::uint32_t memory;                 ///< no cache holds it
  std::uint32_t upgrade;  ///< a shared line becomes this core's to write; others drop it
};

/// How a core hides and adds latency.
struct core_costs {
  permille load_overlap;           ///< share of a load's latency hidden by work it does not hold up
  permille store_overlap;          ///< the same for a store: it waits in the store buffer
  permille sibling_slowdown;       ///< a core's work takes this much longer while its sibling runs
  std::uint32_t exchange;          ///< cycles of a locked read-modify-write on a line it owns
  std::uint32_t compare_exchange;  ///< cycles of a locked compare-exchange on a line it owns
  std::uint32_t fence;             ///< cycles of a full fence
  std::uint32_t pause;             ///< cycles of PAUSE
  std::uint32_t timestamp;         ///< cycles of reading the time-stamp counter
};

/// The transaction unit, after Intel's: lines that a section writes are kept in the first-level
/// cache, lines that it reads may leave it into a second structure.
struct transaction_unit {
  bool rtm;                     ///< XBEGIN, XEND, XABORT
  bool hle;                     ///< XACQUIRE, XRELEASE
  bool suspend_load_tracking;   ///< XSUSLDTRK, XRESLDTRK
  std::uint32_t begin;          ///< cycles
  std::uint32_t commit;         ///< cycles
  std::uint32_t abort;          ///< cycles from the abort to the handler, without what ran before
  std::uint32_t hle_begin;      ///< cycles, with the elided store
  std::uint32_t hle_commit;     ///< cycles, with the elided store
  std::uint32_t nesting_limit;  ///< transactions within each other that commit; one more aborts
  std::uint32_t read_lines;     ///< lines the second structure can track; one more aborts
  /// Chance that a read line is lost, and the transaction aborts, as it leaves the first level.
  per_million read_loss;
};

/// The operating system.
struct system_costs {
  std::uint32_t timer_period_us;     ///< microseconds between two timer interrupts of a CPU
  std::uint32_t other_interrupt_us;  ///< mean microseconds between two other interrupts; 0: none
  std::uint32_t interrupt;           ///< cycles
  std::uint32_t system_call;         ///< cycles to enter the kernel and return
  std::uint32_t page_fault;          ///< cycles of the first touch of a page
  std::uint32_t context_switch_ns;   ///< nanoseconds from one thread to the next on a CPU
  std::uint32_t futex_wake_ns;       ///< nanoseconds from the wake call until the sleeper runs
  std::uint32_t thread_start_ns;     ///< nanoseconds from creating a thread until it runs
  std::uint32_t quantum_us;          ///< microseconds a thread runs while others wait for its CPU
  std::uint32_t page_bytes;          ///< a power of two
};

struct model {
  std::uint32_t sockets;
  std::uint32_t cores_per_socket;
  std::uint32_t threads_per_core;
  std::uint32_t mhz;  ///< the clock at which it ran; cycles per microsecond
  cache_level l1d;
  cache_level l2;
  cache_level l3;
  interconnect beyond;
  core_costs core;
  transaction_unit transactions;
  system_costs system;

  [[nodiscard]] constexpr std::uint32_t cores() const { return sockets * cores_per_socket; }
  [[nodiscard]] constexpr std::uint32_t cpus() const { return cores() * threads_per_core; }

  [[nodiscard]] constexpr std::uint32_t socket_of(std::uint32_t cpu) const {
    return cpu / (cores_per_socket * threads_per_core);
  }
  /// From 0 to cores() - 1; siblings have the same.
  [[nodiscard]] constexpr std::uint32_t core_of(std::uint32_t cpu) const {
    return socket_of(cpu) * cores_per_socket + cpu % cores_per_socket;
  }

  [[nodiscard]] constexpr std::uint64_t cycles_of_ns(std::uint64_t ns) const {
    return ns * mhz / 1000;
  }
  [[nodiscard]] constexpr std::uint64_t ns_of_cycles(std::uint64_t cycles) const {
    return cycles * 1000 / mhz;
  }
};

}  // namespace unlatch::lab
