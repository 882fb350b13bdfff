// SPDX-License-Identifier: Apache-2.0
//
// Runs that would never end are given up at their limit of virtual time. Nothing may run after
// that, so each of them has a process of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "os_testing.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/platform.hpp"

namespace {

using os_testing::small_machine;
using tsx = unlatch::htm::lab;
using unlatch::lab::options;
using unlatch::lab::run_result;

constexpr std::uint64_t limit = 300'000;
constexpr int given_up_at_the_limit = 3;

/// Runs `body` with the limit and ends the process.
template <class Body>
[[noreturn]] void run_and_exit(unlatch::lab::model machine, Body body) {
  const run_result result = unlatch::lab::run(machine, options{.most_cycles = limit}, body);
  if (result.finished) _exit(0);
  _exit(result.cycles == limit && result.all.committed == 0 ? given_up_at_the_limit : 1);
}

template <class Body>
void expect_given_up(const unlatch::lab::model& machine, Body body) {
  EXPECT_EXIT(run_and_exit(machine, body), ::testing::ExitedWithCode(given_up_at_the_limit), "");
}

TEST(LabTimeLimit, ends_a_thread_whose_transaction_never_commits) {
  expect_given_up(small_machine(), [] {
    for (;;) {
      if (tsx::begin().started()) tsx::abort<1>();
    }
  });
}

TEST(LabTimeLimit, ends_threads_that_abort_each_other_for_ever) {
  expect_given_up(small_machine(), [] {
    alignas(64) std::atomic<int> shared{0};
    const auto never_commit = [&] {
      for (;;) {
        if (!tsx::begin().started()) continue;
        for (;;) shared.fetch_add(1);
      }
    };
    std::thread other(never_commit);
    never_commit();
    other.join();
  });
}

TEST(LabTimeLimit, ends_threads_that_spin_and_are_passed_over) {
  auto machine = small_machine();
  machine.system.timer_period_us = 0;
  expect_given_up(machine, [] {
    alignas(64) static std::atomic<bool> never{false};
    const auto spin = [] {
      while (!never.load()) unlatch::cpu_relax();
    };
    std::thread other(spin);
    spin();
    other.join();
  });
}

TEST(LabTimeLimit, ends_a_thread_that_computes_for_ever) {
  expect_given_up(small_machine(), [] {
    for (std::uint64_t number = 1;;) {
      number = number * 6364136223846793005 + 1;
      asm volatile("" : "+r"(number));
    }
  });
}

TEST(LabTimeLimit, ends_a_loop_with_nothing_in_it) {
  expect_given_up(small_machine(), [] {
    for (;;) asm volatile("");
  });
}

[[gnu::noinline]] void do_nothing() { asm volatile(""); }

TEST(LabTimeLimit, ends_a_loop_of_calls_that_touch_no_memory) {
  expect_given_up(small_machine(), [] {
    for (;;) do_nothing();
  });
}

TEST(LabTimeLimit, ends_a_loop_that_touches_its_own_stack_alone) {
  expect_given_up(small_machine(), [] {
    volatile std::uint64_t own = 0;
    asm volatile("" : : "r"(&own) : "memory");
    for (;;) own = own + 1;
  });
}

TEST(LabTimeLimit, ends_a_computation_in_a_transaction) {
  expect_given_up(small_machine(), [] {
    while (!tsx::begin().started()) {
    }
    for (;;) asm volatile("");
  });
}

TEST(LabTimeLimit, lets_the_others_go_on_first) {
  const auto run_beside = [] {
    const auto result = unlatch::lab::run(small_machine(), options{.most_cycles = limit}, [] {
      std::thread([] {
        for (;;) asm volatile("");
      }).detach();
      unlatch::lab::work(limit / 2);
    });
    _exit(result.finished && result.cycles < limit ? 0 : 1);
  };
  EXPECT_EXIT(run_beside(), ::testing::ExitedWithCode(0), "");
}

TEST(LabTimeLimit, ends_a_thread_that_keeps_sleeping) {
  expect_given_up(small_machine(), [] {
    for (;;) std::this_thread::sleep_for(std::chrono::microseconds(1));
  });
}

TEST(LabTimeLimit, changes_nothing_for_a_run_that_ends_before) {
  const auto cycles_with = [](std::uint64_t most_cycles) {
    const auto result = unlatch::lab::run(small_machine(), options{.most_cycles = most_cycles},
                                          [] { unlatch::lab::work(1000); });
    EXPECT_TRUE(result.finished);
    return result.cycles;
  };
  EXPECT_EQ(cycles_with(limit), cycles_with(0));
}

TEST(LabTimeLimitDeathTest, refuses_to_run_again_after_a_run_that_was_given_up) {
  const auto run_twice = [] {
    const options how{.most_cycles = limit};
    (void)unlatch::lab::run(small_machine(), how, [] {
      for (;;) unlatch::lab::work(100);
    });
    (void)unlatch::lab::run(small_machine(), how, [] {});
  };
  EXPECT_DEATH(run_twice(), "after one that was given up");
}

}  // namespace
