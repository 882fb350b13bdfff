// SPDX-License-Identifier: Apache-2.0
//
// The explorer itself: that it finds what is there to be found, says where, and replays it.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "src/lab/explore/explore.hpp"

namespace unlatch::lab {
namespace {

/// Two threads that each add one to a counter, in two steps.
void lose_an_addition() {
  std::atomic<int> counter = 0;
  const auto add = [&] { counter.store(counter.load() + 1); };
  std::thread other(add);
  add();
  other.join();
  require(counter == 2, "an addition was lost");
}

void add_atomically() {
  std::atomic<int> counter = 0;
  std::thread other([&] { ++counter; });
  ++counter;
  other.join();
  require(counter == 2, "an addition was lost");
}

TEST(Explorer, finds_a_lost_update_at_random) {
  const auto found = explore({.schedules = 200}, lose_an_addition);
  EXPECT_FALSE(found.passed);
  EXPECT_EQ(found.failure, "an addition was lost") << found;
}

TEST(Explorer, finds_a_lost_update_by_priorities) {
  const auto found = explore({.how = search::priorities, .schedules = 200}, lose_an_addition);
  EXPECT_EQ(found.failure, "an addition was lost") << found;
}

TEST(Explorer, finds_a_lost_update_with_one_deviation) {
  const auto found =
      explore({.how = search::bounded, .schedules = 2000, .deviations = 1}, lose_an_addition);
  EXPECT_EQ(found.failure, "an addition was lost") << found;
}

TEST(Explorer, knows_when_it_has_tried_everything_within_the_bound) {
  const auto found =
      explore({.how = search::bounded, .schedules = 5000, .deviations = 1}, add_atomically);
  EXPECT_TRUE(found.passed) << found;
  EXPECT_TRUE(found.complete) << found;
}

TEST(Explorer, replays_what_it_found_and_shrinks_it) {
  const auto found = explore({.schedules = 200}, lose_an_addition);
  ASSERT_FALSE(found.passed);
  EXPECT_LE(std::count(found.schedule.begin(), found.schedule.end(), '>'), 3) << found;
  EXPECT_NE(found.story.find("explorer_test.cpp:"), std::string::npos) << found;
  const auto again = explore({.replay = found.schedule}, lose_an_addition);
  EXPECT_EQ(again.failure, "an addition was lost") << again;
  EXPECT_EQ(again.schedules, 1u);
}

TEST(Explorer, gives_the_same_finding_for_the_same_seed) {
  const auto once = explore({.seed = 5, .schedules = 200}, lose_an_addition);
  const auto again = explore({.seed = 5, .schedules = 200}, lose_an_addition);
  EXPECT_EQ(once.schedule, again.schedule);
  EXPECT_EQ(once.schedules, again.schedules);
}

TEST(Explorer, reports_a_deadlock) {
  const auto found = explore({.schedules = 500}, [] {
    std::mutex first;
    std::mutex second;
    std::thread other([&] {
      const std::scoped_lock one(second);
      const std::scoped_lock two(first);
    });
    {
      const std::scoped_lock one(first);
      const std::scoped_lock two(second);
    }
    other.join();
  });
  EXPECT_FALSE(found.passed);
  EXPECT_NE(found.failure.find("deadlock"), std::string::npos) << found;
}

TEST(Explorer, reports_a_schedule_that_does_not_end) {
  const auto found = explore({.schedules = 2, .most_steps = 1000}, [] {
    static std::atomic<bool> never = false;
    while (!never) std::this_thread::yield();
  });
  EXPECT_EQ(found.failure, "the schedule does not end") << found;
}

TEST(Explorer, reports_an_exception_that_leaves_the_body) {
  const auto found = explore({.schedules = 2}, [] { throw std::runtime_error("oh"); });
  EXPECT_EQ(found.failure, "oh") << found;
}

TEST(Explorer, reports_a_crash) {
  const auto found = explore({.schedules = 2}, [] { __builtin_trap(); });
  EXPECT_NE(found.failure.find("died"), std::string::npos) << found;
}

TEST(Explorer, refuses_what_is_not_a_schedule) {
  EXPECT_THROW(explore({.replay = "12>1 12>2"}, add_atomically), std::invalid_argument);
  EXPECT_THROW(explore({.replay = "12-1"}, add_atomically), std::invalid_argument);
}

}  // namespace
}  // namespace unlatch::lab
