// SPDX-License-Identifier: Apache-2.0
//
// The state of the simulated machine: its CPUs, cores and sockets, the simulated threads, and which
// of them runs. One machine exists; everything in the runtime works on it.
//
// Invariants:
//   1. `running` is the CPU whose thread executes, null in host mode and while the simulator itself
//      decides what runs next. unlatch_lab_fast describes that CPU.
//   2. A CPU is in `ready` (the heap) exactly if it has a thread in `current`.
//   3. A thread is in state ready exactly if it is in one CPU's queue, running exactly if it is one
//      CPU's `current`.
//   4. An entry of a CPU's tag tables names its core's most recent line in a set of the L1; the
//      core's other hardware thread has no entry for another line of that set.
#pragma once

#include <cstdint>

#include "../../instrument/hooks.hpp"
#include "../counters.hpp"
#include "../model.hpp"
#include "clock_heap.hpp"
#include "directory.hpp"
#include "random.hpp"
#include "scheduler.hpp"
#include "tag_array.hpp"
#include "transaction.hpp"

namespace unlatch::lab {

struct strategy;

static_assert(most_cpus <= clock_heap::most);
inline constexpr std::uint32_t most_sockets = 8;
inline constexpr std::uint32_t most_threads = 4096;
inline constexpr std::uintptr_t stacks_address = 0x1000'0000'0000;
inline constexpr cycles never = ~cycles{0} >> clock_heap::number_bits;

enum class thread_state : std::uint8_t { free, ready, running, blocked, exited };

struct thread {
  std::uint32_t number;
  thread_state state;
  bool stack_seen;    ///< another thread has touched its stack: track it like other memory
  bool wake_pending;  ///< wake() came while it was not blocked
  bool woken;         ///< why its block_until() ended
  std::uint32_t last_cpu;
  std::uint32_t timer;   ///< generation: timers with another one are out of date
  std::uintptr_t stack;  ///< its lowest address
  std::uintptr_t stack_pointer;
  std::uint64_t resume_value;  ///< what the switch back to it returns
  std::uintptr_t storage;      ///< the FS base of its thread-local storage
  std::uint64_t* exceptions;   ///< its __cxa_eh_globals
  void* (*entry)(void*);
  void* argument;
  void* result;
  void* os;
  cycles ready_at;
  std::uint64_t affinity[2];
  thread* next;
};

inline constexpr std::uint32_t most_tags_set = 28;

struct alignas(64) cpu {
  std::uint64_t read_tags[tag_entries];
  std::uint64_t write_tags[tag_entries];
  bool asleep;             ///< it is passed over while its spin loop sees no change (waiting.hpp)
  bool disturbed;          ///< a line has left its L1 since its last pause
  bool wrote;              ///< a write has been noted since its last pause
  std::uint32_t tags_set;  ///< entries set since the tables were empty
  std::uint8_t tags_set_at[most_tags_set];  ///< the first of them
  std::uint32_t number;
  std::uint32_t core;
  std::uint32_t socket;
  std::uint32_t hardware_thread;  ///< 0, or 1 for the sibling
  std::uint64_t core_bit;
  cpu* sibling;  ///< null without
  thread* current;
  thread* queue_head;
  thread* queue_tail;
  std::uint32_t queued;
  cycles next_interrupt;
  cycles next_timer;
  cycles next_other;
  cycles slice_end;
  cycles busy_from;     ///< when it last stopped being idle
  cycles slowed_until;  ///< up to here the sibling's slowdown has been charged
  transaction tx;
  counters meter;
};

struct core_caches {
  tag_array l1;
  tag_array l2;
};

/// Cycles charged for an access, by where it is served; already without what the core overlaps.
struct access_costs {
  std::uint32_t l1, l2, l3, clean_core, dirty_core, clean_socket, dirty_socket, memory, upgrade;
};

struct machine {
  model rules;
  cpu* running = nullptr;
  cycles first_timer = never;  ///< when the first sleeping thread wakes (timers.hpp)
  cycles time_limit = never;   ///< a CPU whose clock gets there ends the run
  cycles switch_limit = 0;     ///< an access that others can notice may not happen after this
  std::uint64_t run_ahead = 0;
  std::uint32_t asleep = 0;  ///< CPUs that are
  bool blame = false;
  bool pass_over_spinning = true;
  bool active = false;       ///< between the begin and the end of a run
  bool out_of_time = false;  ///< a run was given up at its time limit
  const lab::strategy* strategy = nullptr;
  clock_heap ready;
  directory lines;
  access_costs costs[3];  ///< of loads, stores, atomic accesses
  random chance;
  cpu* cpus = nullptr;
  core_caches cores[most_cores];
  tag_array l3[most_sockets];
  thread* threads = nullptr;
  std::uint32_t threads_used = 0;
  std::uint32_t threads_alive = 0;
  alignas(64) cycles clocks[most_cpus + 1];  ///< the last is the dummy of host mode
};

extern machine the;

inline cycles& clock_of(const cpu& which) noexcept { return the.clocks[which.number]; }

/// Makes unlatch_lab_fast describe this CPU, or host mode.
void arm(cpu& which) noexcept;
void arm_host() noexcept;
/// Empties its tag tables.
inline void forget_tags(cpu& which) noexcept {
  if (which.tags_set <= most_tags_set) {
    for (std::uint32_t i = 0; i < which.tags_set; ++i) {
      which.read_tags[which.tags_set_at[i]] = which.write_tags[which.tags_set_at[i]] = 0;
    }
  } else {
    __builtin_memset(which.read_tags, 0, sizeof which.read_tags);
    __builtin_memset(which.write_tags, 0, sizeof which.write_tags);
  }
  which.tags_set = 0;
}

/// Lets CPUs that are behind the running one run first, and this one's interrupts happen.
void catch_up(std::uintptr_t code) noexcept;
[[gnu::always_inline]] inline void synchronize(std::uintptr_t code) noexcept {
  if (*unlatch_lab_fast.clock > the.switch_limit) [[unlikely]]
    catch_up(code);
}

}  // namespace unlatch::lab
