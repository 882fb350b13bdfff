// SPDX-License-Identifier: Apache-2.0
//
// What a profile tells of locks.
#include <gmock/gmock.h>

#include "profile_test.hpp"

namespace unlatch::probe::testing {
namespace {

using ::testing::HasSubstr;

/// Of a case in which each lock is taken at one place.
nlohmann::json only_site(const nlohmann::json& lock) {
  EXPECT_EQ(lock["sites"].size(), 1) << lock;
  return lock["sites"][0];
}

TEST(Locks, are_told_by_their_variables_with_how_often_they_were_taken_and_where) {
  const auto ended = profile_case("takes_one_often");
  EXPECT_EQ(ended.acquired("hot_lock"), 5000);
  EXPECT_EQ(ended.acquired("cold_lock"), 7);
  const std::string where = only_site(ended.lock("hot_lock"))["where"];
  EXPECT_THAT(where, HasSubstr("take_hot at profile_subject_locks.cpp:"));
  EXPECT_EQ(only_site(ended.lock("hot_lock"))["kind"], "mutex");
}

TEST(Locks, that_were_not_free_are_told_with_how_long_was_waited) {
  const auto lock = profile_case("meets").lock("contended_lock");
  EXPECT_EQ(lock["acquired"], 40);
  // A thread may start late on a busy machine; it starts in time more often than not.
  EXPECT_GE(lock["contended"], 10);
  EXPECT_LE(lock["contended"], 20);
  EXPECT_GT(lock["wait_us"], 10'000);
  EXPECT_EQ(lock["sites"].size(), 2);
  for (const auto& site : lock["sites"]) EXPECT_EQ(site["acquired"], 20);
}

TEST(Locks, are_told_with_how_long_they_were_held) {
  const auto ended = profile_case("holds_long");
  const auto long_one = ended.lock("long_lock");
  EXPECT_EQ(long_one["timed"], 5);
  // The classes of durations are a quarter of an octave wide.
  EXPECT_GT(long_one["held_percentiles_us"]["p50"], 20'000 * 0.85);
  EXPECT_GT(long_one["held_us"], 100'000 * 0.99);
  EXPECT_LT(ended.lock("brief_lock")["held_percentiles_us"]["p50"], 1000);
}

TEST(Locks, are_timed_one_in_sixteen_times_when_they_are_taken_often) {
  const auto lock = profile_case("takes_one_often").lock("hot_lock");
  EXPECT_NEAR(lock["timed"].get<double>(), 64 + (5000 - 64) / 16, 3);
}

TEST(Conditions, are_told_apart_with_how_long_was_waited) {
  const auto lock = profile_case("waits").lock("waiting_lock");
  long waits = 0;
  for (const auto& site : lock["sites"]) {
    if (site["kind"] != "condition") continue;
    ++waits;
    EXPECT_GE(site["acquired"], 1);
    EXPECT_GT(site["wait_us"], 1000);
  }
  EXPECT_EQ(waits, 1);
  // Waiting is not holding.
  EXPECT_LT(lock["held_us"], 40'000);
}

TEST(ReadWriteLocks, are_told_apart_by_how_they_are_taken) {
  const auto lock = profile_case("shares").lock("table_latch");
  ASSERT_EQ(lock["sites"].size(), 2);
  for (const auto& site : lock["sites"]) {
    EXPECT_EQ(site["acquired"], site["kind"] == "read" ? 300 : 30) << site;
  }
}

TEST(Attempts, that_end_without_the_lock_are_refused) {
  const auto lock = profile_case("tries").lock("busy_lock");
  EXPECT_EQ(lock["acquired"], 1);
  EXPECT_EQ(lock["refused"], 14);
}

TEST(SpinLocks, are_told) { EXPECT_EQ(profile_case("spins").acquired("spinning_lock"), 40); }

TEST(StandardLibrary, its_locks_are_told) {
  const auto ended = profile_case("uses_the_standard_library");
  EXPECT_EQ(ended.acquired("standard_mutex"), 60 + 1 + 1);
  EXPECT_EQ(ended.acquired("standard_shared_mutex"), 50);
}

TEST(ManyLocks, that_are_taken_at_the_same_place_are_one_entry) {
  const auto ended = profile_case("takes_many_locks");
  const auto lock = ended.lock("1000 locks taken at the same places");
  ASSERT_FALSE(lock.is_null()) << ended.err;
  EXPECT_EQ(lock["instances"], 1000);
  EXPECT_EQ(lock["acquired"], 3000);
  EXPECT_EQ(ended.report["lost_uses"], 0);
}

}  // namespace
}  // namespace unlatch::probe::testing
