// SPDX-License-Identifier: Apache-2.0
//
// Histories of the structures under load, and whether a sequential object could have answered so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <random>
#include <thread>

#include "history.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/structures/counter.hpp"
#include "unlatch/structures/hash_map.hpp"
#include "unlatch/structures/list.hpp"
#include "unlatch/structures/mpsc_queue.hpp"
#include "unlatch/structures/red_black_tree.hpp"
#include "unlatch/structures/skip_list.hpp"

namespace unlatch {
namespace {

using testing::check;
using ::testing::HasSubstr;
using testing::history;

constexpr unsigned threads = 4;
constexpr int rounds = 12;
constexpr int operations = 150;  // of one thread in one round
constexpr std::int64_t keys = 4;

using speculating = elided<spin_mutex, policy::always_software, htm::none>;
using adapting = elided<mutex>;

struct hash_map_of_one_lock : hash_map<std::int64_t, std::int64_t, speculating> {
  hash_map_of_one_lock() : hash_map(2) {}
};
struct hash_map_of_two_locks : hash_map<std::int64_t, std::int64_t, speculating> {
  hash_map_of_two_locks() : hash_map(4, 2) {}
};

std::mt19937_64::result_type new_seed() {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  return seed;
}

void expect_linearizable(const char* model, const history& recorded) {
  const auto said = check(model, recorded.to_json_lines());
  EXPECT_EQ(said.exit_code, 0) << said.output;
  EXPECT_THAT(said.output, HasSubstr("linearizable: " + std::to_string(recorded.size())));
}

template <class Map>
class MapHistories : public ::testing::Test {};

using maps = ::testing::Types<hash_map_of_one_lock, hash_map_of_two_locks,
                              list<std::int64_t, std::int64_t, speculating>,
                              skip_list<std::int64_t, std::int64_t, speculating>,
                              red_black_tree<std::int64_t, std::int64_t, speculating>,
                              red_black_tree<std::int64_t, std::int64_t, adapting>>;
TYPED_TEST_SUITE(MapHistories, maps);

TYPED_TEST(MapHistories, are_linearizable) {
  const auto seed = new_seed();
  history recorded;
  for (int round = 0; round < rounds; ++round) {
    TypeParam map;
    recorded.run(threads, [&](history::log& log, unsigned thread) {
      std::mt19937_64 random(seed + round * threads + thread);
      for (int i = 0; i < operations; ++i) {
        const auto key = static_cast<std::int64_t>(random() % keys);
        const std::int64_t value = thread * operations + i;
        switch (random() % 5) {
          case 0:
            log.record("insert", key, value, [&] { return map.insert(key, value); });
            break;
          case 1:
            log.record("insert_or_assign", key, value,
                       [&] { return map.insert_or_assign(key, value); });
            break;
          case 2:
            log.record("erase", key, 0, [&] { return map.erase(key); });
            break;
          default:
            log.record("find", key, 0, [&] { return map.find(key); });
        }
      }
    });
  }
  EXPECT_EQ(recorded.size(), std::size_t{threads} * operations * rounds);
  expect_linearizable("map", recorded);
}

template <class Lock>
class CounterHistories : public ::testing::Test {};
using counter_locks = ::testing::Types<speculating, adapting>;
TYPED_TEST_SUITE(CounterHistories, counter_locks);

TYPED_TEST(CounterHistories, are_linearizable) {
  const auto seed = new_seed();
  history recorded;
  for (int round = 0; round < rounds; ++round) {
    counter<std::int64_t, TypeParam> counted;
    recorded.run(threads, [&](history::log& log, unsigned thread) {
      std::mt19937_64 random(seed + round * threads + thread);
      for (int i = 0; i < operations; ++i) {
        if (random() % 2 == 0)
          log.record("add", 0, 1, [&] { return counted.add(1); });
        else
          log.record("value", 0, 0, [&] { return counted.value(); });
      }
    });
  }
  EXPECT_EQ(recorded.size(), std::size_t{threads} * operations * rounds);
  expect_linearizable("counter", recorded);
}

TEST(QueueHistories, are_linearizable) {
  constexpr int pushes = 60;  // of one producer in one round
  // Concurrent pushes may be in any order until they are popped, and the checker tries all: so the
  // producers do not run far ahead of the consumer, thread 0.
  constexpr int longest_backlog = 4;
  const auto seed = new_seed();
  history recorded;
  for (int round = 0; round < rounds; ++round) {
    mpsc_queue<std::int64_t> queue;
    std::atomic<int> backlog{0};
    recorded.run(threads, [&](history::log& log, unsigned thread) {
      std::mt19937_64 random(seed + round * threads + thread);
      if (thread != 0) {
        for (int i = 0; i < pushes; ++i) {
          while (backlog >= longest_backlog) std::this_thread::yield();
          const std::int64_t value = thread * pushes + i;
          log.record("push", 0, value, [&]() -> std::optional<std::int64_t> {
            queue.push(value);
            return std::nullopt;
          });
          ++backlog;
        }
        return;
      }
      for (int popped = 0; popped < pushes * static_cast<int>(threads - 1);) {
        // Mostly it waits until there is something: what finds nothing tests little.
        if (random() % 4 != 0)
          while (backlog <= 0) std::this_thread::yield();
        const bool found = log.record("pop", 0, 0, [&] { return queue.try_pop(); }).has_value();
        popped += found;
        backlog -= found;
      }
    });
  }
  EXPECT_GE(recorded.size(), std::size_t{rounds} * (threads - 1) * pushes * 2);
  expect_linearizable("queue", recorded);
}

// --- the checker itself
// ---------------------------------------------------------------------------

/// Loses updates: its add() lets every other thread read before it writes.
class broken_counter {
 public:
  std::int64_t add(std::barrier<>& all_have_read) {
    const auto before = value_.load();
    all_have_read.arrive_and_wait();
    value_.store(before + 1);
    return before;
  }

 private:
  std::atomic<std::int64_t> value_{0};
};

TEST(LinearizabilityChecker, finds_the_lost_update_of_a_broken_counter) {
  history recorded;
  broken_counter counted;
  std::barrier all_have_read(2);
  recorded.run(2, [&](history::log& log, unsigned) {
    log.record("add", 0, 1, [&] { return counted.add(all_have_read); });
  });
  const auto said = check("counter", recorded.to_json_lines());
  EXPECT_EQ(said.exit_code, 1);
  EXPECT_THAT(said.output, HasSubstr("not linearizable"));
  EXPECT_THAT(said.output, HasSubstr("add key 0 value 1 -> 0"));
}

TEST(LinearizabilityChecker, finds_a_value_that_was_read_before_it_was_written) {
  history recorded;
  recorded.add(0, {"find", 1, 0, 7, 1, 2});
  recorded.add(1, {"insert", 1, 7, 1, 3, 4});
  EXPECT_EQ(check("map", recorded.to_json_lines()).exit_code, 1);
}

TEST(LinearizabilityChecker, finds_a_value_that_was_read_after_it_was_erased) {
  history recorded;
  recorded.add(0, {"insert", 1, 7, 1, 1, 2});
  recorded.add(0, {"erase", 1, 0, 1, 3, 4});
  recorded.add(1, {"find", 1, 0, 7, 5, 6});
  EXPECT_EQ(check("map", recorded.to_json_lines()).exit_code, 1);
}

TEST(LinearizabilityChecker, lets_operations_that_overlap_take_effect_in_any_order) {
  history recorded;
  recorded.add(0, {"insert", 1, 7, 1, 1, 6});
  recorded.add(1, {"find", 1, 0, std::nullopt, 2, 3});
  recorded.add(1, {"find", 1, 0, 7, 4, 5});
  EXPECT_EQ(check("map", recorded.to_json_lines()).exit_code, 0);
}

TEST(LinearizabilityChecker, finds_values_that_are_popped_in_another_order_than_pushed) {
  history recorded;
  recorded.add(0, {"push", 0, 1, std::nullopt, 1, 2});
  recorded.add(0, {"push", 0, 2, std::nullopt, 3, 4});
  recorded.add(1, {"pop", 0, 0, 2, 5, 6});
  EXPECT_EQ(check("queue", recorded.to_json_lines()).exit_code, 1);
}

TEST(LinearizabilityChecker, finds_a_pop_that_overlooks_a_completed_push) {
  history recorded;
  recorded.add(0, {"push", 0, 1, std::nullopt, 1, 9});
  recorded.add(1, {"push", 0, 2, std::nullopt, 2, 3});
  recorded.add(2, {"pop", 0, 0, std::nullopt, 4, 5});
  EXPECT_EQ(check("queue", recorded.to_json_lines()).exit_code, 1);
}

TEST(LinearizabilityChecker, names_the_line_and_the_field_that_is_wrong) {
  history recorded;
  recorded.add(0, {"push", 0, 1, std::nullopt, 1, 2});
  recorded.add(0, {"peek", 0, 1, std::nullopt, 3, 4});
  const auto said = check("queue", recorded.to_json_lines());
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_THAT(said.output, HasSubstr(".jsonl:2: field op: a queue has no operation \"peek\""));
  EXPECT_EQ(check("queue", "").exit_code, 2);
}

}  // namespace
}  // namespace unlatch
