// SPDX-License-Identifier: Apache-2.0
//
// The simulated caches, sockets and CPUs: what an access costs by where its line is, hardware
// threads that share a core, and more threads than CPUs.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "os_testing.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/platform.hpp"

namespace {

using os_testing::small_machine;
using unlatch::lab::cycles_now;
using unlatch::lab::model;
using unlatch::lab::run;
using tsx = unlatch::htm::lab;

struct alignas(64) line {
  long value = 0;
};

/// The test machine with all of a latency charged, without interrupts.
model plain_machine() {
  model m = small_machine();
  m.core.load_overlap = m.core.store_overlap = 0;
  m.system.timer_period_us = 0;
  return m;
}

/// Two sockets of two cores of two hardware threads; CPUs 0 1 | 2 3 (siblings) || 4 5 | 6 7.
model two_sockets() {
  model m = plain_machine();
  m.sockets = 2;
  m.cores_per_socket = 2;
  m.threads_per_core = 2;
  m.l3.inclusive = false;
  return m;
}

/// Average cycles of reading `count` lines in order.
std::uint64_t read_all(const line* lines, int count) {
  const std::uint64_t from = cycles_now();
  for (int i = 0; i < count; ++i) (void)*const_cast<const volatile long*>(&lines[i].value);
  return (cycles_now() - from) / static_cast<unsigned>(count);
}

TEST(LabCaches, charge_by_the_level_that_has_the_line) {
  constexpr int all = 65536;  // 4 MiB
  auto lines = std::make_unique<line[]>(all);
  std::uint64_t memory = 0;
  std::uint64_t third = 0;
  std::uint64_t second = 0;
  std::uint64_t first = 0;
  run(plain_machine(), {}, [&, at = lines.get()] {
    memory = read_all(at, all);
    third = read_all(at, all);
    read_all(at, 2048);
    second = read_all(at, 2048);  // 128 KiB
    read_all(at, 256);
    first = read_all(at, 256);
  });
  const auto near = [](std::uint64_t measured, std::uint64_t latency) {
    return measured >= latency && measured <= latency + 6;
  };
  EXPECT_PRED2(near, memory, 200u);
  EXPECT_PRED2(near, third, 36u);
  EXPECT_PRED2(near, second, 12u);
  EXPECT_LE(first, 6u);
}

/// Cycles for a thread on `to` to read lines that one on `from` has written.
std::uint64_t transfer(unsigned from, unsigned to) {
  auto lines = std::make_unique<line[]>(64);
  std::uint64_t took = 0;
  run(two_sockets(), {}, [&, at = lines.get()] {
    const auto run_on = [](unsigned cpu) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(cpu, &set);
      pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    };
    std::thread([&] {
      run_on(from);
      for (int i = 0; i < 64; ++i) at[i].value = i;
    }).join();
    std::thread([&] {
      run_on(to);
      EXPECT_EQ(unlatch::lab::cpu_number(), to);
      took = read_all(at, 64);
    }).join();
  });
  return took;
}

TEST(LabCaches, charge_by_the_distance_of_the_owner) {
  EXPECT_LE(transfer(0, 2), 6u);  // siblings share the L1
  const std::uint64_t near = transfer(0, 1);
  EXPECT_GE(near, 60u);
  EXPECT_LE(near, 66u);
  const std::uint64_t far = transfer(0, 4);
  EXPECT_GE(far, 250u);
  EXPECT_LE(far, 256u);
}

TEST(LabCaches, serve_one_request_for_a_contended_line_at_a_time) {
  auto machine = plain_machine();
  auto counter = std::make_unique<std::atomic<long>>(0);
  const auto result = run(machine, {}, [&, at = counter.get()] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([at] {
        for (int k = 0; k < 1000; ++k) ++*at;
      });
    }
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(*counter, 4000);
  EXPECT_GT(result.all.queue_cycles, 1000u);
}

TEST(LabSiblings, share_the_first_level_and_conflict_like_others) {
  auto lines = std::make_unique<line[]>(1024);
  unlatch::htm::status seen;
  run(two_sockets(), {}, [&, at = lines.get()] {
    std::atomic<int> stage{0};
    const auto run_on = [](unsigned cpu) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(cpu, &set);
      pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    };
    run_on(1);
    std::thread reader([&] {
      run_on(2);
      while (stage != 1) unlatch::cpu_relax();
      unlatch::lab::work(5000);
      EXPECT_EQ(at[3].value, 0);
    });
    std::thread writer([&] {
      run_on(0);
      stage = 1;
      const auto outcome = tsx::begin();
      if (outcome.started()) {
        at[3].value = 1;
        unlatch::lab::work(100'000);
        tsx::commit();
      }
      seen = outcome;
    });
    reader.join();
    writer.join();
  });
  EXPECT_TRUE(seen.conflict());
}

TEST(LabCpus, are_shared_by_more_threads_than_there_are) {
  auto machine = small_machine();
  machine.system.quantum_us = 100;
  std::vector<int> done(32);
  const auto result = run(machine, {}, [&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 32; ++i) {
      threads.emplace_back([&done, i] {
        for (int k = 0; k < 100; ++k) unlatch::lab::work(10'000);
        done[i] = 1;
      });
    }
    for (auto& each : threads) each.join();
  });
  for (const int each : done) EXPECT_EQ(each, 1);
  // 32 million cycles of work on four CPUs, and what switching between them costs.
  EXPECT_GE(result.cycles, 8'000'000u);
  EXPECT_LE(result.cycles, 9'500'000u);
  EXPECT_GT(result.all.context_switches, 50u);
}

TEST(LabCpus, may_be_112) {
  model machine = small_machine();
  machine.cores_per_socket = 56;
  machine.threads_per_core = 2;
  machine.l1d = {48 * 1024, 12, 5, false};
  machine.l2 = {2 * 1024 * 1024, 16, 14, false};
  machine.l3 = {105 * 1024 * 1024, 15, 70, false};
  auto lines = std::make_unique<line[]>(128);
  const auto result = run(machine, {}, [&, at = lines.get()] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 112; ++i) {
      threads.emplace_back([at, i] {
        line& own = at[i];  // or it is read where the next thread's arguments are written
        for (int k = 0; k < 200; ++k) {
          if (!tsx::begin().started()) continue;
          ++own.value;
          tsx::commit();
        }
      });
    }
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(result.all.committed, 112u * 200u);
}

TEST(LabWaiting, sleeping_spinners_change_nothing) {
  const auto measure = [](bool pass_over) {
    auto lock = std::make_unique<std::atomic<int>>(0);
    auto data = std::make_unique<line>();
    const auto result = run(plain_machine(), {.run_ahead = 0, .pass_over_spinning = pass_over},
                            [&, at = lock.get(), value = data.get()] {
                              std::vector<std::thread> threads;
                              for (int id = 0; id < 4; ++id) {
                                threads.emplace_back([=] {
                                  for (int i = 0; i < 400; ++i) {
                                    while (at->exchange(1) != 0) {
                                      while (*at != 0) unlatch::cpu_relax();
                                    }
                                    ++value->value;
                                    unlatch::lab::work(3000 + 7 * id);
                                    at->store(0);
                                    unlatch::lab::work(500 + 13 * id);
                                  }
                                });
                              }
                              for (auto& each : threads) each.join();
                            });
    EXPECT_EQ(data->value, 1600);
    return result;
  };
  const auto with = measure(true);
  const auto without = measure(false);
  EXPECT_NEAR(static_cast<double>(with.cycles), static_cast<double>(without.cycles),
              0.01 * static_cast<double>(without.cycles));
  EXPECT_LT(with.all.accesses * 4, without.all.accesses);
}

}  // namespace
