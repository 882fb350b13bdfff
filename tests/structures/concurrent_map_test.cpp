// SPDX-License-Identifier: Apache-2.0
//
// The concurrent maps under load: every map with locks whose sections run in software speculation,
// under the lock, or as the library chooses.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "unlatch/mutex.hpp"
#include "unlatch/reclamation.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/structures/hash_map.hpp"
#include "unlatch/structures/list.hpp"
#include "unlatch/structures/red_black_tree.hpp"
#include "unlatch/structures/skip_list.hpp"
#include "unlatch/ticket_mutex.hpp"

namespace unlatch {
namespace {

using speculating = elided<spin_mutex, policy::always_software, htm::none>;
using adapting = elided<mutex>;

struct hash_map_of_one_lock : hash_map<std::int64_t, std::int64_t, adapting> {
  hash_map_of_one_lock() : hash_map(16) {}
};
struct hash_map_of_three_locks : hash_map<std::int64_t, std::int64_t, speculating> {
  hash_map_of_three_locks() : hash_map(16, 3) {}
};

using maps = ::testing::Types<hash_map_of_one_lock, hash_map_of_three_locks,
                              list<std::int64_t, std::int64_t, speculating>,
                              skip_list<std::int64_t, std::int64_t, speculating>,
                              red_black_tree<std::int64_t, std::int64_t, speculating>,
                              red_black_tree<std::int64_t, std::int64_t, elided<ticket_mutex>>>;

constexpr unsigned threads = 4;

template <class Map>
class ConcurrentMap : public ::testing::Test {
 protected:
  ConcurrentMap() { std::printf("seed %u\n", seed_); }

  /// Runs `work(thread, random)` in all threads and waits for them. Each then waits until what it
  /// has erased is freed, so that nothing is left over for the leak checker.
  template <class Work>
  void in_threads(Work&& work) {
    std::vector<std::thread> running;
    for (unsigned thread = 0; thread < threads; ++thread)
      running.emplace_back([&, thread] {
        std::mt19937_64 random(seed_ + thread);
        work(thread, random);
        reclamation::drain();
      });
    for (auto& r : running) r.join();
  }

  const unsigned seed_ = std::random_device{}();
  Map map_;
};
TYPED_TEST_SUITE(ConcurrentMap, maps);

TYPED_TEST(ConcurrentMap, answers_each_thread_like_a_map_of_its_own_for_its_own_keys) {
  constexpr int operations = 4000;
  constexpr std::int64_t keys = 24;  // of each thread
  auto& map = this->map_;
  std::array<std::map<std::int64_t, std::int64_t>, threads> expected;
  std::atomic<int> wrong{0};
  this->in_threads([&](unsigned thread, std::mt19937_64& random) {
    auto& own = expected[thread];
    for (int i = 0; i < operations; ++i) {
      const auto key = static_cast<std::int64_t>(random() % keys * threads + thread);
      switch (random() % 4) {
        case 0:
          wrong += map.insert(key, i) != own.emplace(key, i).second;
          break;
        case 1:
          wrong += map.insert_or_assign(key, i) != own.insert_or_assign(key, i).second;
          break;
        case 2:
          wrong += map.erase(key) != (own.erase(key) == 1);
          break;
        default:
          const auto found = own.find(key);
          wrong +=
              map.find(key) != (found == own.end() ? std::nullopt : std::optional(found->second));
      }
      if (i % 256 == 0) wrong += map.violated_invariant().has_value();
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(map.violated_invariant(), std::nullopt);
  std::map<std::int64_t, std::int64_t> all, visited;
  for (auto& own : expected) all.merge(own);
  map.for_each([&](std::int64_t key, std::int64_t value) { visited.emplace(key, value); });
  EXPECT_EQ(visited, all);
  EXPECT_EQ(map.size(), all.size());
}

TYPED_TEST(ConcurrentMap, inserts_and_erases_a_key_in_one_thread_only) {
  constexpr int operations = 2000;
  auto& map = this->map_;
  std::array<std::atomic<std::int64_t>, 8> balance{};  // of inserts and erases that succeeded
  this->in_threads([&](unsigned, std::mt19937_64& random) {
    for (int i = 0; i < operations; ++i) {
      const auto key = static_cast<std::int64_t>(random() % balance.size());
      if (random() % 2 == 0) {
        if (map.insert(key, key)) ++balance[key];
      } else if (map.erase(key)) {
        --balance[key];
      }
    }
  });
  for (std::size_t key = 0; key < balance.size(); ++key)
    EXPECT_EQ(balance[key], map.find(static_cast<std::int64_t>(key)).has_value()) << key;
}

TYPED_TEST(ConcurrentMap, lets_for_each_use_the_map_and_throw) {
  auto& map = this->map_;
  for (std::int64_t key = 0; key < 20; ++key) map.insert(key, key);
  map.for_each([&](std::int64_t key, std::int64_t) { map.erase(key); });
  EXPECT_EQ(map.size(), 0u);
  map.insert(1, 1);
  EXPECT_THROW(map.for_each([](std::int64_t, std::int64_t) { throw 1; }), int);
  EXPECT_EQ(map.find(1), 1);
}

// --- sections of several steps
// --------------------------------------------------------------------

/// Moves values between keys in sections of two steps; every section that looks sees all values.
template <class Sequential>
class ComposedSections : public ::testing::Test {};

struct small_hash_map : basic_hash_map<std::int64_t, std::int64_t> {
  small_hash_map() : basic_hash_map(8) {}
};
using sequential_maps = ::testing::Types<small_hash_map, basic_list<std::int64_t, std::int64_t>,
                                         basic_skip_list<std::int64_t, std::int64_t>,
                                         basic_red_black_tree<std::int64_t, std::int64_t>>;
TYPED_TEST_SUITE(ComposedSections, sequential_maps);

TYPED_TEST(ComposedSections, conserve_what_they_move) {
  constexpr std::int64_t keys = 48, filled = 24;
  constexpr int operations = 2500;
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  speculating lock("composed");
  TypeParam map;
  for (std::int64_t key = 0; key < filled; ++key)
    elide(lock, [&](auto& tx) { return map.insert(tx, key, 1 << key); });
  std::atomic<int> wrong{0};
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread)
    running.emplace_back([&, thread] {
      std::mt19937_64 random(seed + thread);
      for (int i = 0; i < operations; ++i) {
        const auto from = static_cast<std::int64_t>(random() % keys);
        const auto to = static_cast<std::int64_t>(random() % keys);
        if (thread != 0) {
          elide(lock, [&](auto& tx) {
            const auto value = map.find(tx, from);
            if (!value || map.find(tx, to)) return;
            map.erase(tx, from);
            map.insert(tx, to, *value);
          });
        } else {
          std::int64_t sum = 0;
          elide(lock, [&](auto& tx) {
            sum = 0;
            map.for_each(tx, [&](std::int64_t, std::int64_t value) { sum += value; });
          });
          wrong += sum != (1 << filled) - 1;
          if (i % 16 == 0)
            wrong += elide(lock, [&](auto& tx) { return map.violated_invariant(tx).has_value(); });
        }
      }
      reclamation::drain();
    });
  for (auto& r : running) r.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace unlatch
