// SPDX-License-Identifier: Apache-2.0
//
// The layer under the locks: transaction status, the hardware's own transactions, parking.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <string>
#include <thread>

#include "support/scripted_htm.hpp"
#include "support/threads.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/parking.hpp"

namespace unlatch::testing {
namespace {

using htm::cause;
using htm::status;

TEST(TransactionStatus, reads_the_bits_of_the_hardware) {
  EXPECT_TRUE(started.started());
  EXPECT_FALSE(status().started());
  const status s(0xab000001);
  EXPECT_TRUE(s.explicit_abort());
  EXPECT_EQ(s.code(), 0xab);
  EXPECT_FALSE(s.retry() || s.conflict() || s.capacity() || s.debug() || s.nested());
  EXPECT_TRUE(status(1u << 1).retry());
  EXPECT_TRUE(status(1u << 2).conflict());
  EXPECT_TRUE(status(1u << 3).capacity());
  EXPECT_TRUE(status(1u << 4).debug());
  EXPECT_TRUE(status(1u << 5).nested());
  EXPECT_EQ(status(5).word(), 5u);
}

TEST(TransactionStatus, names_one_cause_for_each_abort) {
  EXPECT_EQ(conflict.why(), cause::conflict);
  EXPECT_EQ(conflict_retry.why(), cause::conflict);
  EXPECT_EQ(capacity.why(), cause::capacity);
  EXPECT_EQ(conflict_capacity.why(), cause::capacity);
  EXPECT_EQ(lock_held.why(), cause::lock_held);
  EXPECT_EQ(explicit_abort.why(), cause::explicit_code);
  EXPECT_EQ(nested.why(), cause::nested);
  EXPECT_EQ(retry_alone.why(), cause::other);
  EXPECT_EQ(interrupt.why(), cause::other);
  EXPECT_EQ(status(status::debug_bit).why(), cause::other);
}

TEST(TransactionStatus, has_a_name_for_each_cause) {
  EXPECT_STREQ(to_string(cause::conflict), "conflict");
  EXPECT_STREQ(to_string(cause::capacity), "capacity");
  EXPECT_STREQ(to_string(cause::lock_held), "lock_held");
  EXPECT_STREQ(to_string(cause::explicit_code), "explicit");
  EXPECT_STREQ(to_string(cause::nested), "nested");
  EXPECT_STREQ(to_string(cause::other), "other");
}

TEST(HardwareTransactions, are_available_exactly_where_one_committed) {
  EXPECT_EQ(htm::available(), htm::describe().what == htm::support::works);
}

TEST(HardwareTransactions, are_described_for_people_whatever_there_is) {
  for (const htm::support what : {htm::support::works, htm::support::not_enumerated,
                                  htm::support::always_aborts, htm::support::no_backend}) {
    for (const bool switched_off : {false, true}) {
      htm::description d;
      d.what = what;
      d.cpuid_rtm_always_abort = switched_off;
      const std::string text = to_string(d);
      EXPECT_FALSE(text.empty());
      EXPECT_EQ(text.back(), '.');
    }
  }
  htm::description d;
  d.what = htm::support::not_enumerated;
  d.cpuid_tsxldtrk = true;
  EXPECT_THAT(to_string(d), ::testing::HasSubstr("TSXLDTRK"));
}

// --- parking
// --------------------------------------------------------------------------------------

TEST(Parking, does_not_sleep_on_a_word_that_has_changed) {
  const std::atomic<std::uint32_t> word = 1;
  parking::wait(word, 0);
  EXPECT_TRUE(parking::wait_until(word, 0, parking::clock::now() + std::chrono::hours(1)));
}

TEST(Parking, sleeps_until_it_is_woken) {
  std::atomic<std::uint32_t> word = 0;
  blocking_thread sleeper([&] {
    while (word == 0) parking::wait(word, 0);
  });
  sleeper.wait_until_asleep();
  word = 1;
  parking::wake(&word, 1);
}

TEST(Parking, wakes_as_many_as_it_is_told) {
  std::atomic<std::uint32_t> word = 0;
  const auto sleep = [&] {
    while (word == 0) parking::wait(word, 0);
  };
  blocking_thread a(sleep), b(sleep), c(sleep);
  for (blocking_thread* t : {&a, &b, &c}) t->wait_until_asleep();
  word = 1;
  parking::wake(&word, INT_MAX);
}

TEST(Parking, ends_a_sleep_at_its_deadline) {
  const std::atomic<std::uint32_t> word = 0;
  while (parking::wait_until(word, 0, parking::clock::now() + std::chrono::milliseconds(1))) {
  }
  EXPECT_FALSE(parking::wait_until(word, 0, parking::clock::now() - std::chrono::seconds(1)));
  EXPECT_FALSE(parking::wait_until(word, 0, parking::clock::time_point::min()));
}

TEST(Parking, knows_at_least_one_cpu) {
  EXPECT_GE(parking::cpus(), 1u);
  EXPECT_LE(parking::cpus(), std::thread::hardware_concurrency());
}

TEST(Parking, orders_a_store_before_a_load_of_another_thread_by_its_barrier) {
  if (!parking::barrier_in_all_threads()) GTEST_SKIP() << "this kernel has no membarrier()";
  // Dekker's test: without the heavy barrier on one side both may read 0.
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> a = 0, b = 0;
    int seen_a = -1, seen_b = -1;
    run_together(2, [&](int thread) {
      if (thread == 0) {
        a.store(1, std::memory_order_relaxed);
        parking::light_fence();
        seen_b = b.load(std::memory_order_relaxed);
      } else {
        b.store(1, std::memory_order_relaxed);
        parking::barrier_in_all_threads();
        seen_a = a.load(std::memory_order_relaxed);
      }
    });
    ASSERT_TRUE(seen_a == 1 || seen_b == 1) << "round " << round;
  }
}

}  // namespace
}  // namespace unlatch::testing
