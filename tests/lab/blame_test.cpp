// SPDX-License-Identifier: Apache-2.0
//
// Blame: programs with planted conflicts, overflows and forbidden instructions. Each must be found,
// with the lines of source planted here, and nothing else.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lab/source_lines.hpp"
#include "os_testing.hpp"
#include "unlatch/elide.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/spin_mutex.hpp"

namespace {

using os_testing::simulate;
using unlatch::lab::run_result;
using tsx = unlatch::htm::lab;

// "blame_test.cpp:57"
std::string here(int line) { return "tests/lab/blame_test.cpp:" + std::to_string(line); }

std::string line_of(std::uintptr_t code) {
  static const unlatch::lab::source_lines lines;
  return lines.line_of_call(code);
}

/// The pairs of lines (owner's, requester's) of all conflicts.
std::set<std::pair<std::string, std::string>> conflicts_of(const run_result& result) {
  std::set<std::pair<std::string, std::string>> pairs;
  for (std::uint64_t i = 0; i < result.blame.conflicts_count; ++i) {
    const auto& each = result.blame.conflicts[i];
    pairs.emplace(line_of(each.owner.code), line_of(each.requester.code));
  }
  return pairs;
}

struct alignas(64) planted {
  long shared = 0;
  long beside = 0;  // on the same line
  char padding[48] = {};
  long elsewhere = 0;
};

/// Runs `first` in a long transaction on one CPU, and `second` in the middle of it on another.
template <class First, class Second>
run_result collide(First first, Second second) {
  return simulate([&] {
    std::atomic<int> stage{0};
    std::thread other([&] {
      stage = 1;
      unlatch::lab::work(10'000);
      second();
    });
    while (stage.load() == 0) unlatch::cpu_relax();
    if (tsx::begin().started()) {
      first();
      unlatch::lab::work(100'000);
      tsx::commit();
    }
    other.join();
  });
}

TEST(Blame, names_both_lines_of_true_sharing) {
  auto data = std::make_unique<planted>();
  const int owner = __LINE__ + 1;
  const auto first = [at = data.get()] { at->shared = 1; };
  const auto second = [at = data.get()] { at->shared = 2; };
  const int requester = owner + 1;
  const auto result = collide(first, second);
  using pairs = std::set<std::pair<std::string, std::string>>;
  EXPECT_EQ(conflicts_of(result), (pairs{{here(owner), here(requester)}}));
  ASSERT_EQ(result.blame.conflicts_count, 1u);
  const auto& found = result.blame.conflicts[0];
  EXPECT_EQ(found.count, 1u);
  EXPECT_EQ(found.true_sharing, 1u);
  EXPECT_TRUE(found.owner.write);
  EXPECT_TRUE(found.requester.write);
  EXPECT_EQ(found.owner.bytes, 0xffu);
  EXPECT_EQ(found.line, reinterpret_cast<std::uintptr_t>(data.get()));
  EXPECT_EQ(found.object.begin, reinterpret_cast<std::uintptr_t>(data.get()));
  EXPECT_EQ(found.in_transaction, 0u);
  EXPECT_GT(found.wasted_cycles, 1000u);
  EXPECT_LT(found.wasted_cycles, 100'000u);
}

TEST(Blame, tells_false_sharing_from_true) {
  auto data = std::make_unique<planted>();
  const int owner = __LINE__ + 4;
  const auto result = collide(
      [at = data.get()] {
        at->elsewhere = 7;
        at->shared = 1;
      },
      [at = data.get()] { at->beside = 2; });
  const int requester = owner + 2;
  using pairs = std::set<std::pair<std::string, std::string>>;
  EXPECT_EQ(conflicts_of(result), (pairs{{here(owner), here(requester)}}));
  ASSERT_EQ(result.blame.conflicts_count, 1u);
  EXPECT_EQ(result.blame.conflicts[0].true_sharing, 0u);
  EXPECT_EQ(result.blame.conflicts[0].owner.bytes, 0xffu);
  EXPECT_EQ(result.blame.conflicts[0].requester.bytes, 0xff00u);
}

TEST(Blame, names_the_lines_that_access_through_a_wrapper) {
  auto data = std::make_unique<planted>();
  using lock = unlatch::elided<unlatch::spin_mutex>;
  lock latch("planted");
  unlatch::direct_tx<lock, false> tx(latch, unlatch::detail::this_section());
  const int owner = __LINE__ + 1;
  const auto first = [at = data.get(), &tx] { tx.write(at->shared, tx.read(at->elsewhere)); };
  const auto second = [at = data.get()] { unlatch::write_shared(at->shared, 2); };
  const int requester = owner + 1;
  const auto result = collide(first, second);
  using pairs = std::set<std::pair<std::string, std::string>>;
  EXPECT_EQ(conflicts_of(result), (pairs{{here(owner), here(requester)}}));
}

TEST(Blame, names_the_lines_of_closures) {
  auto data = std::make_unique<planted>();
  const int planted_line = __LINE__ + 8;
  const auto result = simulate([at = data.get()] {
    unlatch::elided<unlatch::spin_mutex, unlatch::policy::fixed<3>> latch("planted");
    std::atomic<int> arrived{0};
    const auto add = [&] {
      ++arrived;
      while (arrived.load() < 2) unlatch::cpu_relax();
      for (int i = 0; i < 200; ++i) {
        unlatch::elide(latch, [at](auto& tx) { tx.write(at->shared, tx.read(at->shared) + 1); });
      }
    };
    std::thread other(add);
    add();
    other.join();
  });
  EXPECT_EQ(data->shared, 400);
  bool found = false;
  for (const auto& [owner, requester] : conflicts_of(result)) {
    found |= owner == here(planted_line) && requester == here(planted_line);
    for (const char* wrapper : {"/access.hpp", "/elide.hpp", "/speculation.hpp", "/c++/"}) {
      EXPECT_EQ(owner.find(wrapper), std::string::npos) << owner;
      EXPECT_EQ(requester.find(wrapper), std::string::npos) << requester;
    }
  }
  EXPECT_TRUE(found);
}

TEST(Blame, is_silent_about_what_is_only_read_by_both) {
  auto data = std::make_unique<planted>();
  const auto result = collide([at = data.get()] { unlatch::lab::work(at->shared + 1); },
                              [at = data.get()] { unlatch::lab::work(at->shared + 1); });
  EXPECT_EQ(result.blame.conflicts_count, 0u);
  EXPECT_EQ(result.blame.aborts_count, 0u);
  EXPECT_EQ(result.blame.capacities_count, 0u);
  EXPECT_EQ(result.all.committed, 1u);
}

TEST(Blame, names_the_set_that_overflowed_and_the_lines_in_it) {
  auto lines = std::make_unique<planted[]>(4096);
  for (int i = 0; i < 4096; ++i) lines[i].shared = 0;
  const int planted_line = __LINE__ + 3;
  const auto result = simulate([at = lines.get()] {
    if (tsx::begin().started()) {
      for (int i = 0; i < 9; ++i) at[i * 32].shared = i;  // 64 lines apart: all in one set
      tsx::commit();
    }
  });
  ASSERT_EQ(result.blame.capacities_count, 1u);
  const auto& found = result.blame.capacities[0];
  EXPECT_EQ(line_of(found.code), here(planted_line));
  EXPECT_EQ(found.count, 1u);
  EXPECT_FALSE(found.reads);
  EXPECT_EQ(found.set, reinterpret_cast<std::uintptr_t>(lines.get()) / 64 % 64);
  EXPECT_GE(found.lines_count, 8u);
  for (unsigned i = 0; i < found.lines_count; ++i) {
    EXPECT_EQ(found.lines[i] / 64 % 64, found.set);
    EXPECT_EQ(line_of(found.lines_code[i]), here(planted_line));
  }
  EXPECT_EQ(result.blame.conflicts_count, 0u);
  EXPECT_EQ(result.blame.aborts_count, 0u);
}

TEST(Blame, names_the_instruction_that_a_transaction_does_not_survive) {
  const int first = __LINE__;
  const auto result = simulate([] {
    if (tsx::begin().started()) {
      __builtin_ia32_pause();
      tsx::commit();
    }
    if (tsx::begin().started()) {
      std::this_thread::yield();
      tsx::commit();
    }
  });
  ASSERT_EQ(result.blame.aborts_count, 2u);
  std::set<std::string> lines;
  for (unsigned i = 0; i < 2; ++i) lines.insert(line_of(result.blame.aborts[i].code));
  EXPECT_EQ(lines, (std::set<std::string>{here(first + 3), here(first + 7)}));
}

}  // namespace
