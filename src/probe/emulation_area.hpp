// SPDX-License-Identifier: Apache-2.0
//
// What `unlatch emulate` and the programs it runs share: a memory file with what was asked for and
// what happened. It outlives the program, however that ends.
//
// Thread safety: the settings are written before the program starts. Every process that runs under
// the emulator adds to the same counts; all that changes is atomic. A call site belongs to whoever
// changes its `key` from 0, and is to be read by others once `ready`.
//
// Only plain numbers and characters: the emulator must not need a library of the program's.
#pragma once

#include <atomic>
#include <cstdint>

namespace unlatch::probe {

/// The environment variable that names the file. Without it the preloaded object does nothing.
inline constexpr char area_variable[] = "UNLATCH_EMULATE";

struct emulation_settings {
  // The cache that holds what a transaction writes, and what tracks the lines it has only read
  // once they have left the cache (model.hpp).
  std::uint32_t cache_sets;
  std::uint32_t cache_ways;
  std::uint32_t read_lines;
  std::uint32_t read_loss_per_million;
  std::uint32_t nesting_limit;
  // Injected aborts.
  std::uint32_t injected_status;  ///< what they leave in EAX
  std::uint64_t abort_at;         ///< before this instruction of every section, from 1; 0: never
  std::uint64_t abort_chance;     ///< chance that a section aborts, in 2^32nds
  std::uint64_t seed;
  bool abort_each;  ///< the n-th attempt at a call site aborts before its n-th instruction, until
                    ///< one commits; then from the first again
  bool patch;       ///< replace an XBEGIN that runs often by a jump: half the time of a trap
  bool show_rtm;    ///< CPUID says that there is RTM
  bool trap_cpuid;  ///< let it trap where it can; else it is replaced
};

/// How a transaction ended.
enum class ending : std::uint32_t {
  committed,
  explicit_abort,  ///< XABORT
  capacity,        ///< the model's cache could not hold it
  unfriendly,      ///< an instruction that aborts always: a system call, PAUSE, CPUID …
  fault,           ///< a page fault, division by zero …
  nesting,         ///< deeper than the model allows
  injected,        ///< asked for
  not_stepped,     ///< an instruction that the emulator cannot step
  not_stopped,     ///< a thread did not stop in time
};
inline constexpr std::uint32_t endings = 9;

struct transaction_counts {
  std::atomic<std::uint64_t> begun;
  std::atomic<std::uint64_t> ended[endings];
  std::atomic<std::uint64_t> instructions;  ///< executed, those undone included
};

/// Where transactions begin: a place in a file.
struct call_site {
  std::atomic<std::uint64_t> key;    ///< hash of the place; 0: not used
  std::atomic<std::uint32_t> ready;  ///< what follows up to `counts` is there
  std::uint64_t file_offset;         ///< of the XBEGIN
  char file[256];                    ///< its end if it is longer
  transaction_counts counts;
  std::atomic<std::uint32_t> blocker_state;  ///< 0: none, 1: being written, 2: there
  char blocker[24];                          ///< the first unfriendly instruction's mnemonic
};

struct emulation_area {
  static constexpr std::uint64_t magic_number = 0x31757265'6d6c7431;
  static constexpr std::uint32_t most_sites = 509;

  std::uint64_t magic;
  emulation_settings settings;
  std::atomic<std::uint64_t> processes;   ///< that loaded the emulator
  std::atomic<std::uint64_t> lost_sites;  ///< transactions begun at places that found no room
  transaction_counts all;
  call_site sites[most_sites];
};

/// The largest cache and read set that the emulator has room for.
inline constexpr std::uint32_t most_cache_lines = 1u << 14;
inline constexpr std::uint32_t most_cache_ways = 32;
inline constexpr std::uint32_t most_read_lines = 1u << 17;

}  // namespace unlatch::probe
