// SPDX-License-Identifier: Apache-2.0
//
// explore(): runs a small concurrent program under many schedules and says under which it goes
// wrong. Concurrency code is wrong until explored.
//
//   const auto found = lab::explore({.schedules = 2000, .abort_share = 0.02}, [] {
//     unlatch::elided<unlatch::mutex> lock;
//     int sum = 0;
//     ...                                  // threads that add to it under the lock
//     lab::require(sum == 4, "an addition was lost");
//   });
//   EXPECT_TRUE(found.passed) << found;
//
// A schedule says at which steps a thread is stopped for another one and at which accesses of a
// transaction it aborts, with which status. All else follows the default: a thread runs until it
// blocks, ends, or pauses for something that nobody has written yet. So a schedule is the short
// list of its deviations, which can be printed, replayed, and shrunk by leaving some out.
//
// What is tried
//   random      At each step a coin decides whether to deviate, and another one with what.
//   priorities  Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A
//               Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010):
//               threads have random priorities, and at `depth - 1` random steps the running one
//               gets the lowest. With n threads and k steps each schedule finds a fault of that
//               depth with a probability of at least 1 / (n * k^(depth - 1)).
//   bounded     Every schedule with at most `deviations` deviations (delay-bounded scheduling:
//               Emmi, Qadeer, Rakamaric, POPL 2011), few ones first. Complete if `complete` says
//               so.
//
// Deviations are tried only before accesses that matter: of memory that several threads have
// accessed in a schedule tried so far, atomic ones, fences, begins, commits and kernel calls.
//
// Each schedule runs in a process of its own, forked from the caller, in which the body is the
// first simulated thread: so no schedule sees what another one left, a crash is a finding, and the
// same schedule gives the same run. Time plays no part. Cost: about a millisecond a schedule.
//
// The body must not depend on anything but the schedule: no clock, no random seed of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace unlatch::lab {

struct model;

enum class search : std::uint8_t { random, priorities, bounded };

struct exploration {
  search how = search::random;
  std::uint64_t seed = 1;
  std::uint32_t schedules = 1000;  ///< at most
  std::uint32_t depth = 3;         ///< of the faults that `priorities` looks for
  std::uint32_t deviations = 2;    ///< that a `bounded` schedule has at most
  /// Share of a transaction's accesses at which it aborts; for `bounded`: not 0 means that aborts
  /// are deviations, too.
  double abort_share = 0;
  /// What it aborts with, one at random; as EAX has it after a real abort.
  std::vector<std::uint32_t> statuses = {0, 1u << 1, 1u << 1 | 1u << 2, 1u << 3};
  std::uint32_t most_steps = 20'000;  ///< a schedule that takes more does not end, which is a fault
  std::string replay;                 ///< not empty: the one schedule to try, as a verdict has it
  const model* machine = nullptr;     ///< null: one CPU a thread, Haswell's transactions
};

/// What an exploration found.
struct verdict {
  bool passed = false;          ///< no schedule that was tried went wrong
  bool complete = false;        ///< `bounded`: there is no other schedule within the bound
  std::uint32_t schedules = 0;  ///< tried
  std::uint32_t steps = 0;      ///< of the longest one
  std::uint32_t threads = 0;    ///< of the one with most
  /// `priorities`: how likely it was to find a fault of the given depth, at least.
  double certainty = 0;
  std::string failure;   ///< what went wrong
  std::string schedule;  ///< the shortest one found that goes wrong so; for `replay`
  std::string story;     ///< it, a line a deviation, with the places in the source
};

/// For test output: all that helps to understand and repeat a failure.
std::ostream& operator<<(std::ostream& out, const verdict& found);

/// Explores. `body` is called in host mode's child processes only. Throws std::system_error if it
/// cannot fork, std::invalid_argument if `replay` is not a schedule.
verdict explore(const exploration& how, const std::function<void()>& body);

/// In a body, on any of its threads: if `condition` does not hold, this schedule has gone wrong.
void require(bool condition, const char* what);

}  // namespace unlatch::lab
