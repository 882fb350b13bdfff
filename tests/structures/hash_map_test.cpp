// SPDX-License-Identifier: Apache-2.0
//
// What is particular to the hash map: buckets, hashes, and the locks of groups of buckets.
#include "unlatch/structures/hash_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "unlatch/structures/plain_tx.hpp"

namespace unlatch {
namespace {

using speculating = elided<spin_mutex, policy::always_software, htm::none>;

TEST(HashMap, refuses_to_be_without_buckets_or_locks) {
  EXPECT_THROW((hash_map<int, int>(0)), std::invalid_argument);
  EXPECT_THROW((hash_map<int, int>(8, 0)), std::invalid_argument);
}

TEST(HashMap, spreads_neighbouring_keys_evenly_over_the_buckets) {
  constexpr std::size_t buckets = 100, keys = 10'000;
  const basic_hash_map<int, int> map(buckets);
  std::vector<std::size_t> filled(buckets);
  for (std::size_t key = 0; key < keys; ++key)
    ++filled[map.part_of(static_cast<int>(key), buckets)];
  EXPECT_GT(*std::min_element(filled.begin(), filled.end()), keys / buckets * 3 / 4);
  EXPECT_LT(*std::max_element(filled.begin(), filled.end()), keys / buckets * 5 / 4);
}

TEST(HashMap, gives_each_lock_whole_buckets) {
  constexpr std::size_t buckets = 24;
  for (const std::size_t locks : {1, 2, 3, 4, 6, 8, 12, 24}) {
    const basic_hash_map<int, int> map(buckets);
    for (int key = 0; key < 1000; ++key)
      ASSERT_EQ(map.part_of(key, locks), map.part_of(key, buckets) / (buckets / locks))
          << "key " << key << ", " << locks << " locks";
  }
}

TEST(HashMap, finds_all_keys_when_the_locks_do_not_divide_the_buckets) {
  hash_map<int, int, speculating> map(10, 7);
  for (int key = 0; key < 200; ++key) EXPECT_TRUE(map.insert(key, -key));
  for (int key = 0; key < 200; ++key) EXPECT_EQ(map.find(key), -key);
  EXPECT_EQ(map.size(), 200u);
  EXPECT_EQ(map.violated_invariant(), std::nullopt);
}

/// Records which locks were taken.
class traced_mutex {
 public:
  static inline std::set<const traced_mutex*> taken;

  void lock() {
    taken.insert(this);
    mutex_.lock();
  }
  bool try_lock() {
    taken.insert(this);
    return mutex_.try_lock();
  }
  void unlock() { mutex_.unlock(); }
  bool is_free() const noexcept { return mutex_.is_free(); }

 private:
  spin_mutex mutex_;
};

TEST(HashMap, takes_the_lock_of_the_keys_group_of_buckets) {
  constexpr std::size_t buckets = 12, locks = 3;
  hash_map<int, int, elided<traced_mutex, policy::always_software, htm::none>> map(buckets, locks);
  const basic_hash_map<int, int> same_hash(buckets);
  std::map<const traced_mutex*, std::set<std::size_t>> groups_of_lock;
  for (int key = 0; key < 100; ++key) {
    traced_mutex::taken.clear();
    map.insert(key, key);
    ASSERT_EQ(traced_mutex::taken.size(), 1u);
    groups_of_lock[*traced_mutex::taken.begin()].insert(same_hash.part_of(key, locks));
  }
  EXPECT_EQ(groups_of_lock.size(), locks);
  for (const auto& [lock, groups] : groups_of_lock) EXPECT_EQ(groups.size(), 1u);
}

/// All keys have one hash.
struct constant_hash {
  std::size_t operator()(int) const { return 42; }
};

TEST(HashMap, keeps_keys_of_one_hash_apart) {
  hash_map<int, int, speculating, constant_hash> map(4);
  for (int key = 0; key < 50; ++key) EXPECT_TRUE(map.insert(key, -key));
  for (int key = 0; key < 50; ++key) EXPECT_EQ(map.find(key), -key);
  for (int key = 1; key < 50; key += 2) EXPECT_TRUE(map.erase(key));
  for (int key = 0; key < 50; ++key) EXPECT_EQ(map.find(key).has_value(), key % 2 == 0);
}

/// A hash that changes when a test says so.
struct changing_hash {
  const std::size_t* factor;
  std::size_t operator()(int key) const { return static_cast<std::size_t>(key) * *factor; }
};

TEST(HashMap, reports_a_key_in_the_wrong_bucket) {
  std::size_t factor = 1;
  basic_hash_map<int, int, changing_hash> map(64, changing_hash{&factor});
  plain_tx tx;
  map.insert(tx, 1, 1);
  EXPECT_EQ(map.violated_invariant(tx), std::nullopt);
  factor = 3;
  EXPECT_THAT(map.violated_invariant(tx).value_or(""), ::testing::HasSubstr("another bucket"));
}

/// Keys that are equal only when a test says so.
struct fickle_key {
  int value;
  static inline bool all_are_equal = false;
  friend bool operator==(const fickle_key& a, const fickle_key& b) {
    return all_are_equal || a.value == b.value;
  }
};
struct fickle_hash {
  std::size_t operator()(const fickle_key&) const { return 0; }
};

TEST(HashMap, reports_a_key_that_is_there_twice) {
  basic_hash_map<fickle_key, int, fickle_hash> map(4);
  plain_tx tx;
  map.insert(tx, {1}, 1);
  map.insert(tx, {2}, 2);
  EXPECT_EQ(map.violated_invariant(tx), std::nullopt);
  fickle_key::all_are_equal = true;
  EXPECT_THAT(map.violated_invariant(tx).value_or(""), ::testing::HasSubstr("twice"));
  fickle_key::all_are_equal = false;
}

struct wide {
  std::int32_t part[6];
  friend bool operator==(const wide&, const wide&) = default;
};

TEST(HashMap, holds_values_wider_than_a_word) {
  hash_map<int, wide, speculating> map(4);
  EXPECT_TRUE(map.insert(1, {{1, 2, 3, 4, 5, 6}}));
  EXPECT_FALSE(map.insert_or_assign(1, {{6, 5, 4, 3, 2, 1}}));
  EXPECT_EQ(map.find(1), (wide{{6, 5, 4, 3, 2, 1}}));
}

}  // namespace
}  // namespace unlatch
