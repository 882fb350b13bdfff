// SPDX-License-Identifier: Apache-2.0
#include "unlatch/path_choice.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace unlatch::detail {
namespace {

/// Threads that run sections in turn on a clock that only their sections advance.
class PathChoice : public ::testing::Test {
 protected:
  /// The path of a section of `thread` that begins now.
  path begin(std::size_t thread) {
    while (rows.size() <= thread) rows.push_back(std::make_unique<thread_row>());
    thread_row& row = *rows[thread];
    const path chosen = choice->choose(
        row, row.count(statistics::counter::sections), [this] { return can_join; },
        [this] { return clock; });
    row.add(statistics::counter::sections);
    return chosen;
  }

  /// Runs sections for `ticks` in `threads` threads; returns the share of the time that they spent
  /// speculating. `cost` is what a section takes on a path.
  double speculative_share(std::uint64_t ticks, const std::function<std::uint64_t(path)>& cost,
                           std::size_t threads = 1) {
    const std::uint64_t start = clock;
    std::uint64_t speculated = 0;
    for (std::size_t i = 0; clock - start < ticks; ++i) {
      const path chosen = begin(i % threads);
      const std::uint64_t spent = cost(chosen);
      clock += spent;
      if (chosen == path::speculative) speculated += spent;
    }
    return static_cast<double>(speculated) / static_cast<double>(clock - start);
  }

  double speculative_share(std::uint64_t ticks, std::uint64_t speculative, std::uint64_t direct) {
    return speculative_share(
        ticks, [=](path one) { return one == path::speculative ? speculative : direct; });
  }

  std::vector<std::unique_ptr<thread_row>> rows;
  std::unique_ptr<path_choice> choice = std::make_unique<path_choice>();
  std::uint64_t clock = 1;
  bool can_join = false;
};

constexpr std::uint64_t learning = 50'000'000;

TEST_F(PathChoice, speculates_where_that_is_faster) {
  speculative_share(learning, 100, 300);
  EXPECT_GT(speculative_share(learning, 100, 300), 0.97);
}

TEST_F(PathChoice, speculates_where_that_is_a_little_faster) {
  speculative_share(learning, 100, 115);
  EXPECT_GT(speculative_share(10 * learning, 100, 115), 0.9);
}

TEST_F(PathChoice, runs_under_the_lock_where_that_is_faster) {
  speculative_share(learning, 300, 100);
  EXPECT_LT(speculative_share(learning, 300, 100), 0.03);
}

// What is lost is the time on the slower path, by as much as it is slower.
TEST_F(PathChoice, loses_one_percent_by_looking) {
  for (const std::uint64_t slower : {110, 150, 250, 400, 1000, 10'000}) {
    speculative_share(learning, slower, 100);
    const double share = speculative_share(1'000'000'000, slower, 100);
    const double lost = share * (1 - 100.0 / static_cast<double>(slower));
    EXPECT_LT(lost, 0.02) << "at " << slower << " ticks a section";
  }
}

TEST_F(PathChoice, changes_its_mind_when_the_costs_change) {
  speculative_share(learning, 100, 2000);
  speculative_share(2 * learning, 2000, 100);
  EXPECT_LT(speculative_share(learning, 2000, 100), 0.05);
}

// The lock is twice as fast but for a stall each millisecond, as when its holder is preempted.
TEST_F(PathChoice, learns_of_stalls_that_short_trials_do_not_see) {
  std::uint64_t next_stall = 3'000'000;
  const auto cost = [&](path one) -> std::uint64_t {
    if (one == path::speculative) return 400;
    if (clock < next_stall) return 100;
    next_stall = clock + 16'000'000;
    return 13'000'000;
  };
  speculative_share(1'000'000'000, cost);
  EXPECT_GT(speculative_share(1'000'000'000, cost), 0.7);
}

TEST_F(PathChoice, runs_the_fastest_of_four_paths) {
  can_join = true;
  for (const path fastest : {path::direct, path::speculative, path::joined, path::in_turns}) {
    const auto cost = [=](path one) -> std::uint64_t { return one == fastest ? 100 : 250; };
    speculative_share(10 * learning, cost);
    EXPECT_EQ(choice->now(), fastest);
  }
}

TEST_F(PathChoice, joins_nothing_where_nothing_can_be_joined) {
  speculative_share(10 * learning, [](path one) -> std::uint64_t {
    EXPECT_LE(one, path::speculative);
    return 100;
  });
}

TEST_F(PathChoice, sends_all_threads_the_same_way) {
  speculative_share(learning, 100, 2000);
  EXPECT_EQ(begin(1), path::speculative) << "this thread has measured nothing";
}

TEST_F(PathChoice, goes_on_when_a_thread_falls_silent) {
  const auto cost = [](path one) -> std::uint64_t { return one == path::speculative ? 100 : 2000; };
  speculative_share(learning, cost, 3);
  rows.erase(rows.begin());
  clock += 10'000'000'000;
  speculative_share(learning, 2000, 100);
  EXPECT_LT(speculative_share(learning, 2000, 100), 0.05);
}

TEST_F(PathChoice, decides_for_sections_longer_than_a_trial) {
  speculative_share(1'000'000'000, 1'000'000, 300'000);
  EXPECT_LT(speculative_share(3'000'000'000, 1'000'000, 300'000), 0.05);
}

}  // namespace
}  // namespace unlatch::detail
