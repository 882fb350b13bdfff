// SPDX-License-Identifier: Apache-2.0
//
// Whether the sections of a lock run by speculation, each by itself or several in a transaction, or
// under the lock: whichever lets all threads together finish more of them, found by measuring. The
// closures of elide() ask, and elided<> with a policy that is `measured` where there are hardware
// transactions.
//
// Time goes in periods. A race tries the paths, one after the other, in trials of the same length;
// then the winner runs. A trial's rate is what all threads together finished in it, so waiting,
// aborts, and what a path does to the caches of the code between sections all count, and a thread
// that is preempted takes nothing but its own share away.
//
// How long a trial is
//   - A race begins with trials of 20 microseconds: in shorter ones a path still suffers from what
//     the one before has left in the caches and in waiting threads. They are enough where one path
//     is several times as fast; paths that are far behind leave the race. Else it goes on with
//     trials four times as long, which resolve less: what is lost in them is a small share, because
//     the paths are close to each other.
//   - What happens rarely and costs much, such as a lock's holder that is preempted, short trials
//     do not see. The run that follows does: if it is slower than its trial promised, the next race
//     begins with longer trials.
//   - Time in which nobody wants the lock, 30 ms and more (at 3 GHz), is left out.
//   - A run is a hundred times as long as what the slower trials lost, so looking costs 1 %. A
//     change is noticed at the end of a run, which takes 0.07 s at most (at 3 GHz).
//
// All threads take the same path at the same time, because the paths get in each other's way: one
// thread alone in software would measure how long it waits for the others' locks, find that slow,
// and stay under the lock although all of them would be faster without.
//
// Thread safety: any thread. Locks of one name share a choice. Cost a section: two loads and two
// compares in lines that stay in the cache; a look, every 256 sections at most, adds to a shared
// counter and reads the clock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "unlatch/platform.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::detail {

/// How a section runs. What joins closures is plain speculation for others.
enum class path : std::uint8_t {
  undecided,    ///< nothing has been measured yet
  direct,       ///< under the lock
  speculative,  ///< each by itself
  joined,       ///< several closures in a transaction, as many as conflicts allow (adaptive.hpp)
  in_turns,     ///< as many as fit, and who meets another thread lets it go first for a while
};

class alignas(cache_line) path_choice {
 public:
  static constexpr unsigned rounds = 5;
  static constexpr std::uint32_t longest_step = 256;  ///< sections between two looks
  /// Ticks of each trial in a round of a race.
  static constexpr std::uint64_t trial_ticks(unsigned round) noexcept {
    return std::uint64_t{65'536} << (2 * round);
  }

  /// The choice for the locks of a name.
  static path_choice& of(row_id lock) noexcept;

  /// The path of a section that begins now, outside of transactions, and will be counted in `row`
  /// of the calling thread, which has counted `sections` before. `can_join()` says whether it may
  /// be joined with others.
  template <class CanJoin>
  path choose(thread_row& row, std::uint64_t sections, CanJoin can_join) noexcept {
    return choose(row, sections, can_join, timestamp);
  }
  /// The same where `clock()` tells the time, in ticks.
  template <class CanJoin, class Clock>
  path choose(thread_row& row, std::uint64_t sections, CanJoin can_join, Clock clock) noexcept {
    const std::uint32_t word = word_.load(std::memory_order_relaxed);
    return must_look(memory_in(row), word, sections) ? look(row, clock(), can_join())
                                                     : path_in(word);
  }

  /// The path that sections take now.
  path now() const noexcept { return path_in(word_.load(std::memory_order_relaxed)); }

 private:
  static constexpr std::size_t paths = 4;  ///< that are measured

  /// What a thread has last seen of a choice. Kept in its row; zeros at first.
  struct memory {
    std::uint64_t until;  ///< the period's word << 32 | the number of sections to look again at
    std::uint64_t from;   ///< the row's sections when it last looked

    std::uint32_t word() const noexcept { return static_cast<std::uint32_t>(until >> 32); }
  };
  static memory& memory_in(thread_row& row) noexcept {
    return *std::launder(reinterpret_cast<memory*>(row.choice_memory.data()));
  }
  static_assert(sizeof(memory) <= sizeof(thread_row::choice_memory));

  /// What a path has done in the trials of a race.
  struct score {
    double ticks = 0;
    double sections = 0;
    double ticks_per_section() const noexcept { return ticks / sections; }
  };

  static std::uint64_t moment(std::uint32_t word, std::uint64_t sections) noexcept {
    return std::uint64_t{word} << 32 | static_cast<std::uint32_t>(sections);
  }
  /// Whether the period is another or `until` is reached: then the difference is nothing or wraps
  /// around, or is that of two words, which is larger than any number of sections between looks.
  static bool must_look(const memory& seen, std::uint32_t word, std::uint64_t sections) noexcept {
    return seen.until - moment(word, sections) - 1 >= longest_step;
  }

  static path path_in(std::uint32_t word) noexcept { return static_cast<path>(word % one_period); }
  static constexpr std::uint32_t one_period = 8;
  static std::size_t index_of(path one) noexcept { return static_cast<std::size_t>(one) - 1; }
  bool& in_race(path one) noexcept { return in_race_[index_of(one)]; }
  score& score_of(path one) noexcept { return scores_[index_of(one)]; }

  /// Reports the thread's sections; begins the next period if this one is over.
  [[gnu::noinline, gnu::cold]] path look(thread_row& row, std::uint64_t now,
                                         bool can_join) noexcept;
  void end_period(std::uint32_t word, std::uint64_t now) noexcept;
  void judge_run() noexcept;
  void begin_race() noexcept;
  void end_trial() noexcept;
  void end_round() noexcept;
  void begin_trial(path to_try) noexcept;
  void begin_run(path winner) noexcept;
  void begin_period(path which, std::uint64_t ticks, std::uint64_t least) noexcept;

  // Read by every section; written once a period.
  std::atomic<std::uint32_t> word_{0};    ///< number of the period * 8 + path; 0: none yet
  std::atomic<std::uint32_t> step_{1};    ///< sections of a thread between two looks
  std::atomic<std::uint64_t> began_{0};   ///< the period, in ticks
  std::atomic<std::uint64_t> length_{0};  ///< of the period, in ticks
  std::atomic<std::uint64_t> least_{0};   ///< sections that it must have at least

  alignas(cache_line) std::atomic<std::uint64_t> done_{0};  ///< sections reported in this period

  std::atomic<std::uint64_t> last_look_{0};  ///< in ticks
  std::atomic<bool> can_join_{false};        ///< some section may be joined with others
  std::atomic<bool> busy_{false};            ///< a thread is in end_period(): it owns all below
  path path_ = path::undecided;              ///< of this period
  path last_tried_ = path::undecided;        ///< of each round of the race; undecided: a run
  std::array<bool, paths> in_race_ = {};
  unsigned round_ = 0;
  unsigned first_round_ = 0;
  unsigned kept_promises_ = 8;  ///< runs on end that were as fast as their trials
  double typical_ = 0;          ///< ticks a section took lately, all threads together; 0: not known
  double promised_ = 0;         ///< the same by the trials of the path that runs
  std::array<score, paths> scores_ = {};
};

extern path_choice path_choices[max_rows];

inline path_choice& path_choice::of(row_id lock) noexcept { return path_choices[lock]; }

}  // namespace unlatch::detail
