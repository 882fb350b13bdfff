// SPDX-License-Identifier: Apache-2.0
//
// The same program, model and seed give the same run; another seed gives another. What a run leaves
// behind in the process (heap, threads) must not show in a program's own results.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "os_testing.hpp"

namespace {

struct outcome {
  std::uint64_t cycles;
  std::uint64_t accesses;
  std::uint64_t misses;
  std::string order;
  bool operator==(const outcome&) const = default;
};

outcome run_once(std::uint64_t seed, std::uint64_t run_ahead = 200, bool blame = true) {
  std::string order;
  auto machine = os_testing::small_machine();
  machine.system.timer_period_us = 20;
  machine.system.other_interrupt_us = 15;
  const auto result =
      unlatch::lab::run(machine, {.seed = seed, .run_ahead = run_ahead, .blame = blame}, [&] {
        std::mutex mutex;
        std::map<int, int> map;
        std::vector<std::thread> threads;
        for (int id = 0; id < 6; ++id) {
          threads.emplace_back([&, id] {
            for (int i = 0; i < 200; ++i) {
              const std::scoped_lock lock(mutex);
              ++map[i * 7 % 50 + id];
              if (i % 50 == 0) order += static_cast<char>('a' + id);
            }
          });
        }
        for (auto& each : threads) each.join();
      });
  return {result.cycles, result.all.accesses, result.all.l1_misses, order};
}

// Runs in a process of its own, since the heap of this one is different after a run.
std::string in_own_process(std::uint64_t seed, bool blame, const char* extra_environment) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  std::fflush(nullptr);
  const std::string program = "/proc/self/exe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    setenv("LAB_TEST_SEED", std::to_string(seed).c_str(), 1);
    setenv("LAB_TEST_BLAME", blame ? "1" : "0", 1);
    setenv("LAB_TEST_PADDING", extra_environment, 1);
    execl(program.c_str(), "determinism_test", "--gtest_filter=LabRun.prints_its_outcome", nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, got);
  close(ends[0]);
  const auto from = text.find("outcome ");
  return from == std::string::npos ? text : text.substr(from, text.find('\n', from) - from);
}

TEST(LabRun, prints_its_outcome) {
  const char* const seed = std::getenv("LAB_TEST_SEED");
  if (seed == nullptr) GTEST_SKIP() << "for the tests below, in a process of its own";
  const bool blame = *std::getenv("LAB_TEST_BLAME") == '1';
  const auto got = run_once(std::strtoull(seed, nullptr, 10), 200, blame);
  std::printf("outcome %lu %lu %lu %s\n", got.cycles, got.accesses, got.misses, got.order.c_str());
}

TEST(LabRun, is_the_same_again) {
  const std::string first = in_own_process(1, true, "");
  EXPECT_NE(first.find("outcome"), std::string::npos) << first;
  EXPECT_EQ(first, in_own_process(1, true, ""));
}

TEST(LabRun, is_the_same_with_a_larger_environment) {
  EXPECT_EQ(in_own_process(1, true, ""), in_own_process(1, true, std::string(10000, 'x').c_str()));
}

TEST(LabRun, is_the_same_with_and_without_blame) {
  EXPECT_EQ(in_own_process(1, true, ""), in_own_process(1, false, ""));
}

TEST(LabRun, is_another_with_another_seed) {
  EXPECT_NE(in_own_process(1, true, ""), in_own_process(2, true, ""));
}

}  // namespace
