// SPDX-License-Identifier: Apache-2.0
//
// Structures and closures under random schedules with injected aborts, in transactions and by
// software speculation.
#include <gtest/gtest.h>

#include <cstdint>

#include "src/lab/explore/explore.hpp"
#include "two_threads.hpp"
#include "unlatch/adaptive.hpp"
#include "unlatch/condition_variable.hpp"
#include "unlatch/elide.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/structures/counter.hpp"
#include "unlatch/structures/hash_map.hpp"
#include "unlatch/structures/list.hpp"
#include "unlatch/structures/mpsc_queue.hpp"
#include "unlatch/structures/red_black_tree.hpp"
#include "unlatch/structures/skip_list.hpp"

namespace unlatch::lab {
namespace {

using in_transactions = elided<mutex>;
using joined = elided<mutex, policy::always<detail::path::joined>>;
using in_turns = elided<mutex, policy::always<detail::path::in_turns>>;
using in_software = elided<mutex, policy::always_software, htm::none>;

template <class Lock>
class ExploredClosure : public ::testing::Test {};
using ways = ::testing::Types<in_transactions, joined, in_turns, in_software>;
TYPED_TEST_SUITE(ExploredClosure, ways);

TYPED_TEST(ExploredClosure, sees_whole_changes) {
  const auto found = explore({.schedules = 200, .abort_share = 0.1}, [] {
    TypeParam lock;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    const auto change = [&] {
      elide(lock, [&](auto& tx) {
        tx.write(first, tx.read(first) + 1);
        tx.write(second, tx.read(second) + 1);
      });
    };
    change();  // turns software speculation on; the next closures may join
    at_once(
        [&] {
          change();
          change();
        },
        [&] {
          for (int i = 0; i < 2; ++i) {
            const auto difference =
                elide(lock, [&](auto& tx) { return tx.read(first) - tx.read(second); });
            require(difference == 0, "a closure returned half a change");
          }
        });
    require(first == 3 && second == 3, "a change was lost");
  });
  EXPECT_TRUE(found.passed) << found;
}

/// Two threads use a map; at the end it holds what it must.
template <class Map>
void use_a_map() {
  Map map;
  map.insert(1, 10);
  at_once(
      [&] {
        map.insert(2, 20);
        map.erase(1);
      },
      [&] {
        map.insert(3, 30);
        const auto seen = map.find(1);
        require(!seen || *seen == 10, "a value came from nowhere");
      });
  require(!map.find(1) && map.find(2) == 20 && map.find(3) == 30, "an element was lost");
}

template <class Map>
class ExploredMap : public ::testing::Test {};
template <class Lock>
using hash = hash_map<std::uint64_t, std::uint64_t, Lock>;
using maps = ::testing::Types<list<std::uint64_t, std::uint64_t, in_transactions>,
                              list<std::uint64_t, std::uint64_t, in_software>,
                              skip_list<std::uint64_t, std::uint64_t, in_transactions>,
                              skip_list<std::uint64_t, std::uint64_t, in_software>,
                              red_black_tree<std::uint64_t, std::uint64_t, in_transactions>,
                              red_black_tree<std::uint64_t, std::uint64_t, in_software>>;
TYPED_TEST_SUITE(ExploredMap, maps);

TYPED_TEST(ExploredMap, loses_nothing) {
  const auto found =
      explore({.schedules = 150, .abort_share = 0.02, .most_steps = 50'000}, use_a_map<TypeParam>);
  EXPECT_TRUE(found.passed) << found;
}

TEST(ExploredQueue, of_values_keeps_them_in_order) {
  const auto found = explore({.schedules = 300, .abort_share = 0.1}, [] {
    mpsc_queue<unsigned> queue;
    queue.push(0);
    unsigned next = 0;
    const auto pop = [&] {
      const auto value = queue.try_pop();
      require(!value || *value == next, "a value is lost or out of order");
      next += value ? 1 : 0;
    };
    at_once(
        [&] {
          pop();
          pop();
        },
        [&] {
          queue.push(1);
          queue.push(2);
        });
    for (int i = 0; i < 3; ++i) pop();
    require(next == 3 && queue.empty(), "a value is lost");
  });
  EXPECT_TRUE(found.passed) << found;
}

TEST(ExploredConditionVariable, hands_over_one_by_one) {
  const auto found = explore({.schedules = 200, .abort_share = 0.05}, [] {
    in_transactions lock;
    condition_variable changed;
    int turn = 0;
    const auto take = [&](int mine) {
      for (int i = 0; i < 2; ++i) {
        lock.lock();
        while (turn % 2 != mine) changed.wait(lock);
        ++turn;
        changed.notify_one(lock);
        lock.unlock();
      }
    };
    at_once([&] { take(0); }, [&] { take(1); });
    require(turn == 4, "a turn was lost");
  });
  EXPECT_TRUE(found.passed) << found;
}

}  // namespace
}  // namespace unlatch::lab
