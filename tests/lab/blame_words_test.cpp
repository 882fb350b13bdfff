// SPDX-License-Identifier: Apache-2.0
//
// Blame in words: what a record of a simulated cell says.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "os_testing.hpp"
#include "studies/lab/blame.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/spin_mutex.hpp"

namespace {

using nlohmann::json;
using os_testing::simulate;
using unlatch::lab::blame_lists;
using unlatch::lab::conflict_record;
using tsx = unlatch::htm::lab;

struct alignas(64) cache_line {
  long first = 0;
  long second = 0;
  long padding[6] = {};
};

/// The only entry of `kind` in what is said of `result`.
json only(const char* kind, const blame_lists& blame) {
  const json list = unlatch::studies::blame_of(blame).at(kind);
  EXPECT_EQ(list.size(), 1u) << list.dump(2);
  return list.at(0);
}

TEST(BlameWords, give_the_text_of_a_line_and_what_filled_the_set) {
  auto lines = std::make_unique<cache_line[]>(2048);
  for (int i = 0; i < 2048; ++i) lines[i].first = 0;
  const auto result = simulate([at = lines.get()] {
    if (tsx::begin().started()) {
      for (int i = 0; i < 9; ++i) at[i * 64].first = i;  // one set
      tsx::commit();
    }
  });
  const json one = only("capacities", result.blame);
  const char* const text = "for (int i = 0; i < 9; ++i) at[i * 64].first = i;  // one set";
  EXPECT_EQ(one.at("text"), text);
  EXPECT_EQ(one.at("access"), "write");
  EXPECT_EQ(one.at("filled_by").size(), 1u);
  EXPECT_EQ(one.at("filled_by").at(0).at("text"), text);
  EXPECT_EQ(one.at("filled_by").at(0).at("line"), one.at("line"));
  EXPECT_EQ(one.at("filled_by").at(0).at("lines"), one.at("lines_in_set"));
}

using unwaiting_lock = unlatch::elided<unlatch::spin_mutex, unlatch::policy::mariadb>;
unwaiting_lock global_lock;

/// The section that finds `lock` held, out of line, so that its caller is on the stack alone.
template <class Lock>
[[gnu::noinline]] void enter_and_leave(Lock& lock) {
  const std::scoped_lock section(lock);
}
constexpr const char* entering = "const std::scoped_lock section(lock);";

/// What is said of a section that finds `lock` held, and of nothing else.
template <class Lock>
json find_held(Lock& lock) {
  const auto result = simulate([&] {
    std::atomic<int> stage{0};
    std::thread holder([&] {
      const std::scoped_lock section(lock);
      __builtin_ia32_pause();  // never in a transaction
      stage = 1;
      unlatch::lab::work(100'000);
    });
    while (stage.load() == 0) unlatch::cpu_relax();
    enter_and_leave(lock);
    holder.join();
  });
  json held;
  const json blame = unlatch::studies::blame_of(result.blame);
  for (const json& one : blame.at("others")) {
    if (one.at("reason") != "lock held") continue;
    EXPECT_TRUE(held.is_null()) << one.dump(2);
    held = one;
  }
  return held;
}

TEST(BlameWords, name_the_section_and_the_global_lock_that_it_found_held) {
  const json one = find_held(global_lock);
  ASSERT_FALSE(one.is_null());
  EXPECT_EQ(one.at("text"), entering);
  EXPECT_EQ(one.at("object"), "(anonymous namespace)::global_lock");
  EXPECT_FALSE(one.contains("allocation"));
  EXPECT_EQ(one.at("count"), 1u);
}

TEST(BlameWords, name_the_line_that_allocated_the_lock_that_was_held) {
  const auto lock = std::make_unique<unwaiting_lock>();
  const json one = find_held(*lock);
  ASSERT_FALSE(one.is_null());
  EXPECT_EQ(one.at("text"), entering);
  EXPECT_EQ(one.at("allocation").at("text"),
            "const auto lock = std::make_unique<unwaiting_lock>();");
}

struct alignas(64) prefixed_lock {
  std::uint32_t before = 0;
  std::uint32_t word = 0;

  void lock() {
    while (tsx::exchange_elided(word, 1) != 0) {
      while (static_cast<volatile std::uint32_t&>(word) != 0) unlatch::cpu_relax();
    }
  }
  void unlock() { tsx::store_elided(word, 0); }
};
prefixed_lock global_prefixed_lock;

TEST(BlameWords, name_the_prefixed_lock_that_somebody_takes_for_real) {
  auto machine = os_testing::small_machine();
  machine.transactions.hle = true;
  const auto result = unlatch::lab::run(machine, {}, [] {
    std::atomic<int> stage{0};
    std::thread other([&] {
      stage = 1;
      unlatch::lab::work(10'000);
      const std::scoped_lock section(global_prefixed_lock);
      __builtin_ia32_pause();  // so the lock is taken
    });
    while (stage.load() == 0) unlatch::cpu_relax();
    {
      const std::scoped_lock section(global_prefixed_lock);
      unlatch::lab::work(100'000);
    }
    other.join();
  });
  const json one = only("conflicts", result.blame);
  EXPECT_EQ(one.at("object"), "(anonymous namespace)::global_prefixed_lock + 4");
  const char* const exchange = "while (tsx::exchange_elided(word, 1) != 0) {";
  EXPECT_EQ(one.at("owner").at("text"), exchange);
  EXPECT_EQ(one.at("requester").at("text"), exchange);
  EXPECT_EQ(one.at("begun_at"), one.at("owner").at("line"));
}

/// Two conflicts, which only their bytes and counts tell apart.
blame_lists two_conflicts(conflict_record (&records)[2]) {
  for (conflict_record& one : records) {
    one = {};
    one.object.thread = 7;
    one.requester.write = true;
  }
  records[0].owner.bytes = 0xff;
  records[0].requester.bytes = 0x8000'0000'0000'0000;
  records[0].count = 2;
  records[0].wasted_cycles = 10;
  records[1].owner.bytes = 0x00f0'0f00;
  records[1].count = 5;
  records[1].true_sharing = 5;
  records[1].wasted_cycles = 30;
  blame_lists blame;
  blame.conflicts = records;
  blame.conflicts_count = 2;
  return blame;
}

TEST(BlameWords, sum_conflicts_of_the_same_lines_on_the_same_object) {
  conflict_record records[2];
  const json one = only("conflicts", two_conflicts(records));
  EXPECT_EQ(one.at("object"), "the stack of thread 7");
  EXPECT_EQ(one.at("count"), 7u);
  EXPECT_EQ(one.at("true_sharing"), 5u);
  EXPECT_EQ(one.at("sharing"), "true");
  EXPECT_EQ(one.at("wasted_cycles"), 40u);
  EXPECT_EQ(one.at("owner").at("bytes"), json::parse("[[0, 11], [20, 23]]"));
  EXPECT_EQ(one.at("requester").at("bytes"), json::parse("[[63, 63]]"));
}

TEST(BlameWords, keep_reads_and_writes_apart_and_give_the_costliest_first) {
  conflict_record records[2];
  const blame_lists blame = two_conflicts(records);
  records[1].owner.write = true;
  const json list = unlatch::studies::blame_of(blame).at("conflicts");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.at(0).at("wasted_cycles"), 30u);
  EXPECT_EQ(list.at(1).at("sharing"), "false");
}

}  // namespace
