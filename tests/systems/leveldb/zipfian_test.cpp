// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/zipfian.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "goodness_of_fit.hpp"

namespace unlatch::ycsb {
namespace {

using unlatch::testing::follows;
using unlatch::testing::new_seed;
using unlatch::testing::zipf_law;

/// The probability of each rank, found by bisection of the inverse distribution function.
std::vector<double> probabilities_of(const zipfian& ranks) {
  std::vector<double> result;
  double below = 0;
  for (std::uint64_t rank = 0; rank < ranks.items(); ++rank) {
    double low = below;
    double high = 1;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (ranks.rank_of(middle) <= rank ? low : high) = middle;
    }
    result.push_back(high - below);
    below = high;
  }
  return result;
}

TEST(Zeta, sums_the_inverse_powers) {
  EXPECT_DOUBLE_EQ(zeta(0, 1, 0.99), 1);
  EXPECT_DOUBLE_EQ(zeta(0, 3, 0.5), 1 + 1 / std::sqrt(2) + 1 / std::sqrt(3));
  EXPECT_NEAR(zeta(0, 400, 0.99) + zeta(400, 1000, 0.99), zeta(0, 1000, 0.99), 1e-12);
}

TEST(Zipfian, draws_the_ranks_with_the_probabilities_of_its_inverse_function) {
  const zipfian ranks(1000);
  random_engine random(new_seed());
  std::vector<std::uint64_t> counts(1000);
  for (int i = 0; i < 500'000; ++i) ++counts.at(ranks(random));
  EXPECT_TRUE(follows(counts, probabilities_of(ranks)));
}

TEST(Zipfian, draws_the_two_first_ranks_exactly_as_zipfs_law_says) {
  const zipfian ranks(1000);
  const std::vector<double> law = zipf_law(1000, 0.99);
  const std::vector<double> drawn = probabilities_of(ranks);
  EXPECT_NEAR(drawn[0], law[0], 1e-12);
  EXPECT_NEAR(drawn[1], law[1], 1e-12);
}

TEST(Zipfian, stays_within_two_percent_of_zipfs_law) {
  for (const std::size_t items : {10u, 100u, 1000u, 10'000u}) {
    const std::vector<double> law = zipf_law(items, 0.99);
    const std::vector<double> drawn = probabilities_of(zipfian(items));
    double distance = 0;
    double furthest = 0;
    for (std::size_t rank = 0; rank < items; ++rank) {
      distance += drawn[rank] - law[rank];
      furthest = std::max(furthest, std::abs(distance));
    }
    EXPECT_LT(furthest, 0.02) << "Kolmogorov-Smirnov distance with " << items << " items";
    EXPECT_NEAR(distance, 0, 1e-9);
  }
}

TEST(Zipfian, tells_another_constant_from_the_standard_one) {
  const zipfian flatter(1000, 0.8);
  random_engine random(new_seed());
  std::vector<std::uint64_t> counts(1000);
  for (int i = 0; i < 100'000; ++i) ++counts.at(flatter(random));
  EXPECT_TRUE(follows(counts, probabilities_of(flatter)));
  EXPECT_FALSE(follows(counts, probabilities_of(zipfian(1000))));
}

TEST(Zipfian, grown_in_steps_is_one_made_at_that_size) {
  zipfian grown(10);
  for (const std::uint64_t items : {11u, 50u, 50u, 20u, 1000u}) grown.grow(items);
  const zipfian made(1000);
  ASSERT_EQ(grown.items(), 1000u);
  for (double u = 0; u < 1; u += 1.0 / 4096) EXPECT_EQ(grown.rank_of(u), made.rank_of(u)) << u;
}

TEST(Zipfian, stays_in_its_range_at_the_ends_of_the_unit_interval) {
  const double largest = std::nextafter(1.0, 0.0);
  for (const std::uint64_t items : {1u, 2u, 3u, 1000u}) {
    const zipfian ranks(items);
    EXPECT_EQ(ranks.rank_of(0), 0u);
    EXPECT_EQ(ranks.rank_of(largest), items - 1);
  }
}

TEST(FnvHash, hashes_the_eight_bytes_of_a_number_to_a_positive_one) {
  EXPECT_EQ(fnv_hash(0), 6284781860667377211u);
  EXPECT_EQ(fnv_hash(1), 8517097267634966620u);
  EXPECT_EQ(fnv_hash(2), 1820151046732198393u);
  EXPECT_EQ(fnv_hash(999), 2071219101098386137u);
  EXPECT_EQ(fnv_hash((std::uint64_t{1} << 40) + 5), 1624550441584281035u);
}

TEST(FnvHash, spreads_neighbouring_numbers) {
  // Not as evenly as chance would: multiplication mixes upwards only. But no class goes short.
  for (const std::size_t classes : {64u, 100u, 1000u}) {
    std::vector<int> counts(classes);
    for (std::uint64_t i = 0; i < 100'000; ++i) ++counts[fnv_hash(i) % classes];
    const double even = 100'000 / static_cast<double>(classes);
    EXPECT_GT(*std::ranges::min_element(counts), 0.7 * even) << classes;
    EXPECT_LT(*std::ranges::max_element(counts), 1.3 * even) << classes;
  }
}

}  // namespace
}  // namespace unlatch::ycsb
