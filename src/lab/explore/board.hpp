// SPDX-License-Identifier: Apache-2.0
//
// The memory that an exploration shares with the process of a schedule: what it is to do, and what
// it has seen. Plain arrays: one side is instrumented code in host mode, the other is called from
// inside the simulator.
//
// Thread safety: the parent writes while no child runs, and the other way round.
#pragma once

#include <cstdint>

#include "../runtime/strategy.hpp"

namespace unlatch::lab::exploring {

/// At step `step` another thread goes on, or (status not no_abort) the transaction aborts.
struct deviation {
  std::uint32_t step;
  std::uint32_t thread;
  std::uint32_t status;

  friend bool operator==(const deviation&, const deviation&) = default;
};

enum class guide : std::uint32_t { plan, random, priorities };
enum class ending : std::uint32_t { none, passed, failed, too_long };

inline constexpr std::uint32_t most_threads = 64;
inline constexpr std::uint32_t most_deviations = 4096;
inline constexpr std::uint32_t most_recorded_steps = 100'000;
inline constexpr std::uint32_t most_statuses = 16;
inline constexpr std::uint32_t word_slots = 1u << 16;

/// One question to the strategy, in the order they were asked.
struct step {
  std::uintptr_t code;
  std::uintptr_t address;
  std::uint64_t others;  ///< threads, as bits, that could have gone on instead
  std::uint32_t thread;  ///< that asks
  scheduling_point::kind what;
  bool matters;    ///< deviations make sense here
  bool may_abort;  ///< the question was whether to abort
};

/// Who has accessed a word of memory, over all schedules.
struct word {
  std::uintptr_t address;  ///< divided by 8; 0: free
  std::uint64_t threads;   ///< as bits
  bool written;
  bool contended;  ///< written, and accessed by several threads
};

struct board {
  // --- for the child ----------------------------------------------------------------------------
  guide how;
  std::uint64_t random_state;
  std::uint32_t most_steps;
  std::uint32_t switch_one_in;  ///< random: deviate at one in so many steps that matter
  std::uint32_t abort_per_million;
  std::uint32_t status_count;
  std::uint32_t statuses[most_statuses];
  std::uint32_t plan_count;
  deviation plan[most_deviations];
  std::uint32_t change_count;  ///< priorities: steps at which the running thread gets the lowest
  std::uint32_t changes[most_threads];
  std::uint64_t priority[most_threads];  ///< 0: not drawn yet

  // --- from the child ---------------------------------------------------------------------------
  ending end;
  char message[1024];
  std::uint32_t step_count;
  std::uint32_t thread_count;
  std::uint32_t taken_count;
  deviation taken[most_deviations];
  step steps[most_recorded_steps];

  // --- kept from schedule to schedule -----------------------------------------------------------
  std::uint32_t contended_words;
  word words[word_slots];
};

/// The strategy that follows `what`.
strategy strategy_of(board& what) noexcept;

/// Ends the child: its schedule has gone wrong, or `end` says otherwise. Callable from anywhere.
[[noreturn]] void finish(board& what, ending end, const char* message) noexcept;

}  // namespace unlatch::lab::exploring
