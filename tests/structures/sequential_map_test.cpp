// SPDX-License-Identifier: Apache-2.0
//
// The sequential algorithms against std::map, and what their sections read and write.
#include <cstdio>

#include "sequential_maps.hpp"

namespace unlatch {
namespace {

using testing::content;
using testing::counting_tx;
using testing::model;
using testing::recording_tx;

template <class Map>
class SequentialMap : public ::testing::Test {
 protected:
  SequentialMap() { std::printf("seed %u\n", seed_); }

  /// A random operation on the map and on the model; they must answer alike.
  void operate(counting_tx& tx, Map& map, model& expected, std::int64_t keys) {
    const auto key = static_cast<std::int64_t>(random_() % keys);
    const auto value = static_cast<std::int64_t>(random_());
    switch (random_() % 4) {
      case 0:
        EXPECT_EQ(map.insert(tx, key, value), expected.emplace(key, value).second);
        break;
      case 1:
        EXPECT_EQ(map.insert_or_assign(tx, key, value),
                  expected.insert_or_assign(key, value).second);
        break;
      case 2:
        EXPECT_EQ(map.erase(tx, key), expected.erase(key) == 1);
        break;
      default: {
        const auto found = expected.find(key);
        EXPECT_EQ(map.find(tx, key),
                  found == expected.end() ? std::nullopt : std::optional(found->second));
      }
    }
  }

  const unsigned seed_ = std::random_device{}();
  std::mt19937_64 random_{seed_};
};
TYPED_TEST_SUITE(SequentialMap, testing::sequential_maps);

TYPED_TEST(SequentialMap, answers_like_a_std_map) {
  for (const std::int64_t keys : {1, 3, 20, 500}) {
    TypeParam map;
    model expected;
    counting_tx tx;
    for (int i = 0; i < 5000; ++i) {
      this->operate(tx, map, expected, keys);
      if (i % 16 == 0) {
        ASSERT_EQ(map.violated_invariant(tx), std::nullopt);
        ASSERT_EQ(content(tx, map), expected);
        ASSERT_EQ(map.size(tx), expected.size());
      }
    }
  }
}

TYPED_TEST(SequentialMap, stays_sound_when_it_is_filled_in_order_and_emptied_again) {
  TypeParam map;
  plain_tx tx;
  for (std::int64_t key = 0; key < 300; ++key) {
    ASSERT_TRUE(map.insert(tx, key, -key));
    ASSERT_EQ(map.violated_invariant(tx), std::nullopt);
  }
  for (std::int64_t key = 0; key < 300; ++key) {
    ASSERT_TRUE(map.erase(tx, key));
    ASSERT_EQ(map.violated_invariant(tx), std::nullopt);
  }
  EXPECT_EQ(map.size(tx), 0u);
}

TYPED_TEST(SequentialMap, writes_nothing_when_it_changes_nothing) {
  TypeParam map;
  plain_tx filling;
  for (std::int64_t key = 0; key < 100; key += 2) map.insert(filling, key, key);
  counting_tx tx;
  for (std::int64_t key = 0; key < 100; key += 2) {
    EXPECT_EQ(map.find(tx, key), key);
    EXPECT_EQ(map.find(tx, key + 1), std::nullopt);
    EXPECT_FALSE(map.insert(tx, key, 0));
    EXPECT_FALSE(map.erase(tx, key + 1));
  }
  EXPECT_EQ(map.size(tx), 50u);
  EXPECT_EQ(map.violated_invariant(tx), std::nullopt);
  EXPECT_EQ(tx.writes, 0u);
  EXPECT_EQ(tx.allocated, 0u);
  EXPECT_EQ(tx.retired, 0u);
}

TYPED_TEST(SequentialMap, writes_only_the_value_of_a_key_that_is_there) {
  TypeParam map;
  counting_tx tx;
  map.insert(tx, 1, 1);
  tx = {};
  EXPECT_FALSE(map.insert_or_assign(tx, 1, 2));
  EXPECT_EQ(tx.writes, 1u);
  EXPECT_EQ(tx.allocated, 0u);
  EXPECT_EQ(map.find(tx, 1), 2);
}

TYPED_TEST(SequentialMap, allocates_one_node_a_key_and_retires_what_it_erases) {
  TypeParam map;
  model expected;
  counting_tx tx;
  for (int i = 0; i < 3000; ++i) this->operate(tx, map, expected, 50);
  EXPECT_EQ(tx.allocated - tx.retired, expected.size());
  for (const auto& [key, value] : model(expected)) map.erase(tx, key);
  EXPECT_EQ(tx.allocated, tx.retired);
}

/// Each change of a field must show when it is missing: as a violated invariant, as wrong content,
/// or as a walk that does not end. So violated_invariant() sees what it should see.
TYPED_TEST(SequentialMap, shows_every_missing_write) {
  TypeParam map;
  model expected;
  counting_tx plain;
  std::size_t missing_writes = 0;
  std::size_t violations = 0;
  for (int i = 0; i < 2000; ++i) {
    this->operate(plain, map, expected, 40);
    const auto key = static_cast<std::int64_t>(this->random_() % 40);
    recording_tx tx;
    if (map.insert(tx, key, i)) {
      expected.emplace(key, i);
    } else {
      map.erase(tx, key);
      expected.erase(key);
    }
    for (auto& [field, change] : tx.changes()) {
      if (!change.changes_anything()) continue;
      ++missing_writes;
      change.swap();
      bool shows = true;
      recording_tx looking;
      try {
        const bool violated = map.violated_invariant(looking).has_value();
        violations += violated;
        shows = violated || content(looking, map) != expected;
      } catch (const recording_tx::endless&) {
      }
      change.swap();
      ASSERT_TRUE(shows) << "operation " << i;
    }
  }
  EXPECT_GE(missing_writes, 2000u);
  // A hash map's chain can only lose nodes; every other structure has links that check each other.
  if (!std::is_same_v<TypeParam, testing::small_hash_map>) {
    EXPECT_GT(violations, 0u);
  }
}

}  // namespace
}  // namespace unlatch
