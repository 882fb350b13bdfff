// SPDX-License-Identifier: Apache-2.0
//
// The simulated transaction unit: what an abort puts back, when transactions abort and with which
// status, and that nobody sees what has not been committed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "os_testing.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/platform.hpp"

namespace {

using os_testing::simulate;
using os_testing::small_machine;
using unlatch::htm::status;
using tsx = unlatch::htm::lab;

struct alignas(64) padded {
  long value = 0;
};

/// Lines in the heap that have been touched: 1024, aligned to a page.
std::unique_ptr<padded[]> touched_lines() {
  auto lines = std::make_unique<padded[]>(1024);
  for (int i = 0; i < 1024; ++i) lines[i].value = 0;
  return lines;
}

/// In the simulation: the most lines, `stride` lines apart, that one transaction could write.
int most_written(padded* lines, int stride, int limit) {
  int most = 0;
  for (int count = 1; count <= limit; ++count) {
    for (int attempt = 0; attempt < 5; ++attempt) {
      if (!tsx::begin().started()) continue;
      for (int i = 0; i < count; ++i) lines[i * stride].value = i;
      tsx::commit();
      most = count;
      break;
    }
  }
  return most;
}

TEST(LabTransaction, is_not_available_outside_a_run) {
  EXPECT_FALSE(tsx::available());
  EXPECT_FALSE(tsx::begin().started());
  EXPECT_FALSE(tsx::active());
}

TEST(LabTransaction, commits_what_it_wrote) {
  auto lines = touched_lines();
  const auto result = simulate([&] {
    ASSERT_TRUE(tsx::available());
    ASSERT_TRUE(tsx::begin().started());
    EXPECT_TRUE(tsx::active());
    lines[0].value = 5;
    tsx::commit();
    EXPECT_FALSE(tsx::active());
  });
  EXPECT_EQ(lines[0].value, 5);
  EXPECT_EQ(result.all.started, 1u);
  EXPECT_EQ(result.all.committed, 1u);
  EXPECT_EQ(result.all.aborted, 0u);
}

[[gnu::noinline]] status begin_deep_below(int depth) {
  volatile char padding[200];
  padding[depth] = 1;
  if (depth == 0) return tsx::begin();
  const status result = begin_deep_below(depth - 1);
  return padding[depth] == 1 ? result : status{};
}

TEST(LabTransaction, puts_heap_stack_and_registers_back_after_begin_has_returned) {
  auto heap = std::make_unique<std::string>("short");
  status seen;
  simulate([&] {
    int a = 11;
    volatile int b = 22;
    std::vector<int> numbers{1, 2, 3};
    numbers.reserve(64);
    int array[64];
    for (int i = 0; i < 64; ++i) array[i] = i;
    const status outcome = begin_deep_below(3);
    if (outcome.started()) {
      a = 111;
      b = a;
      for (int i = 0; i < 64; ++i) array[i] = -i;
      numbers.push_back(a);
      heap->assign(5, 'x');
      tsx::abort<0x42>();
    }
    seen = outcome;
    EXPECT_EQ(a, 11);
    EXPECT_EQ(b, 22);
    EXPECT_EQ(numbers.size(), 3u);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(array[i], i);
  });
  EXPECT_EQ(seen, status::aborted_with(0x42));
  EXPECT_EQ(*heap, "short");
}

TEST(LabTransaction, holds_its_writes_from_others_and_aborts_for_them) {
  auto lines = touched_lines();
  status seen;
  long read_by_other = -1;
  simulate([&] {
    std::atomic<bool> begun{false};
    std::thread other([&] {
      while (!begun) unlatch::cpu_relax();
      unlatch::lab::work(2000);
      read_by_other = lines[0].value;
    });
    begun = true;
    const status outcome = tsx::begin();
    if (outcome.started()) {
      lines[0].value = 99;
      unlatch::lab::work(1'000'000);
      lines[1].value = 1;
      tsx::commit();
    }
    seen = outcome;
    other.join();
  });
  EXPECT_EQ(read_by_other, 0);
  EXPECT_EQ(seen.word(), status::conflict_bit | status::retry_bit);
  EXPECT_EQ(lines[0].value, 0);
}

TEST(LabTransaction, survives_other_readers_of_what_it_reads) {
  const auto lines = touched_lines();
  const auto result = simulate([at = lines.get()] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([at, i] {
        // What the transactions read is here: captures may share a line with another thread's.
        padded& read = at[0];
        padded& written = at[i + 1];
        for (int round = 0; round < 100; ++round) {
          if (!tsx::begin().started()) continue;
          written.value += read.value + 1;
          tsx::commit();
        }
      });
    }
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(result.all.aborts[0], 0u);
  EXPECT_EQ(result.all.committed, 300u);
}

TEST(LabTransaction, writes_as_many_lines_as_the_first_level_holds) {
  auto lines = std::make_unique<padded[]>(4096);
  for (int i = 0; i < 4096; ++i) lines[i].value = 0;
  for (const auto& [stride, expected] : {std::pair{1, 512}, {2, 256}, {3, 512}, {4, 128}}) {
    int most = 0;
    simulate([&, stride = stride, at = lines.get()] { most = most_written(at, stride, 600); });
    EXPECT_EQ(most, expected) << "stride " << stride;
  }
}

TEST(LabTransaction, says_capacity_when_a_written_line_leaves) {
  auto lines = touched_lines();
  status seen;
  const auto result = simulate([&, at = lines.get()] {
    const status outcome = tsx::begin();
    if (outcome.started()) {
      for (int i = 0; i < 600; ++i) at[i].value = 1;
      tsx::commit();
    }
    seen = outcome;
  });
  EXPECT_EQ(seen.word(), status::capacity_bit);
  EXPECT_EQ(result.all.aborts[1], 1u);
}

TEST(LabTransaction, nests_seven_deep_and_no_deeper) {
  std::vector<status> seen;
  seen.reserve(16);
  simulate([&] {
    for (int deep = 1; deep <= 8; ++deep) {
      status outcome = tsx::begin();
      if (outcome.started()) {
        for (int i = 1; i < deep; ++i) outcome = tsx::begin();
        for (int i = 0; i < deep; ++i) tsx::commit();
      }
      seen.push_back(outcome);
    }
  });
  ASSERT_EQ(seen.size(), 8u);
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(seen[i].started()) << i + 1;
  EXPECT_EQ(seen[7].word(), status::nested_bit);
}

TEST(LabTransaction, does_not_survive_a_pause) {
  status seen;
  const auto result = simulate([&] {
    const status outcome = tsx::begin();
    if (outcome.started()) {
      unlatch::cpu_relax();
      tsx::commit();
    }
    seen = outcome;
  });
  EXPECT_EQ(seen.word(), 0u);
  EXPECT_EQ(result.all.misc3(), 1u);
}

TEST(LabTransaction, does_not_survive_the_first_touch_of_a_page_even_when_retried) {
  int commits = 0;
  const auto result = simulate([&] {
    auto* const fresh = static_cast<char*>(std::malloc(5 << 20));  // no test has had it
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (!tsx::begin().started()) continue;
      fresh[9000] = 1;
      tsx::commit();
      ++commits;
    }
    EXPECT_EQ(commits, 0) << static_cast<void*>(fresh);
    fresh[9000] = 1;
    if (tsx::begin().started()) {
      fresh[9000] = 2;
      tsx::commit();
      ++commits;
    }
    std::free(fresh);
  });
  EXPECT_EQ(commits, 1);
  EXPECT_EQ(result.all.aborts[7], 3u);
}

TEST(LabTransaction, does_not_outlive_the_timer_interrupt) {
  int commits = 0;
  const auto result = simulate([&] {
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (!tsx::begin().started()) continue;
      unlatch::lab::work(13'000'000);  // longer than the timer's period
      tsx::commit();
      ++commits;
    }
  });
  EXPECT_EQ(commits, 0);
  EXPECT_EQ(result.all.misc5(), 3u);
}

TEST(LabTransaction, gives_back_what_it_allocated_and_keeps_what_it_freed) {
  simulate([] {
    auto* const kept = new long(7);
    for (int i = 0; i < 10000; ++i) {
      if (!tsx::begin().started()) continue;
      delete kept;
      new char[100];
      tsx::abort<1>();
    }
    EXPECT_EQ(*kept, 7);
    auto* const next = new long(8);
    EXPECT_NE(kept, next);
    delete next;
    delete kept;
  });
}

TEST(LabTransaction, unwinds_exceptions_thrown_inside_and_aborted) {
  int caught = 0;
  int aborted = 0;
  simulate([&] {
    for (int i = 0; i < 20; ++i) {
      const status outcome = tsx::begin();
      if (!outcome.started()) {
        ++aborted;
        continue;
      }
      try {
        throw std::runtime_error("a text that is long enough to need the heap");
      } catch (const std::runtime_error& error) {
        if (i % 2 == 1) tsx::abort<3>();
        caught += error.what()[0] == 'a';
      }
      tsx::commit();
    }
    EXPECT_EQ(std::uncaught_exceptions(), 0);
  });
  EXPECT_EQ(caught + aborted, 20);
  EXPECT_GE(aborted, 10);
}

TEST(LabTransaction, keeps_a_bank_consistent_on_all_cpus) {
  auto accounts = touched_lines();
  for (int i = 0; i < 64; ++i) accounts[i].value = 100;
  long torn = 0;
  simulate([&] {
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
      threads.emplace_back([&, random = 88172645463325252ull + id * 977]() mutable {
        for (int i = 0; i < 500;) {
          random ^= random << 13, random ^= random >> 7, random ^= random << 17;
          if (!tsx::begin().started()) {
            unlatch::lab::work(random % 3000);
            continue;
          }
          if (random % 8 == 0) {
            long sum = 0;
            for (int k = 0; k < 64; ++k) sum += accounts[k].value;
            if (sum != 6400) ++torn;
          } else {
            accounts[random % 64].value -= 3;
            accounts[random / 64 % 64].value += 3;
          }
          tsx::commit();
          ++i;
        }
      });
    }
    for (auto& each : threads) each.join();
  });
  long sum = 0;
  for (int k = 0; k < 64; ++k) sum += accounts[k].value;
  EXPECT_EQ(sum, 6400);
  EXPECT_EQ(torn, 0);
}

TEST(LabElision, of_an_exchange_leaves_the_lock_free_for_others) {
  alignas(64) std::uint32_t lock = 0;
  auto lines = touched_lines();
  auto machine = small_machine();
  machine.transactions.hle = true;
  const auto result = unlatch::lab::run(machine, {}, [&] {
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
      threads.emplace_back([&, id] {
        for (int i = 0; i < 50; ++i) {
          while (tsx::exchange_elided(lock, 1) != 0) unlatch::cpu_relax();
          ++lines[id].value;
          tsx::store_elided(lock, 0);
        }
      });
    }
    for (auto& each : threads) each.join();
  });
  for (int id = 0; id < 4; ++id) EXPECT_EQ(lines[id].value, 50);
  EXPECT_EQ(lock, 0u);
  EXPECT_GE(result.all.hle_committed, 190u);
}

}  // namespace
