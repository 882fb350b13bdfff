// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/ycsb/key_chooser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "goodness_of_fit.hpp"

namespace unlatch::ycsb {
namespace {

using unlatch::testing::follows;
using unlatch::testing::new_seed;
using unlatch::testing::zipf_law;

workload workload_of(const std::string& text) {
  return workload::from(properties::parse(text, "test"));
}

std::vector<std::uint64_t> draw(key_chooser& keys, std::uint64_t newest, int times) {
  random_engine random(new_seed());
  std::vector<std::uint64_t> counts(newest + 1);
  for (int i = 0; i < times; ++i) ++counts.at(keys(random, newest));
  return counts;
}

TEST(KeyChooser, uniform_requests_go_to_every_key_alike) {
  key_chooser keys(workload_of("recordcount=500\nrequestdistribution=uniform"));
  EXPECT_TRUE(follows(draw(keys, 499, 200'000), std::vector<double>(500, 1.0 / 500)));
}

TEST(KeyChooser, uniform_requests_begin_at_the_first_key_of_the_workload) {
  key_chooser keys(workload_of("recordcount=500\ninsertstart=100\nrequestdistribution=uniform"));
  std::vector<double> expected(500, 1.0 / 400);
  std::fill_n(expected.begin(), 100, 0.0);
  EXPECT_TRUE(follows(draw(keys, 499, 200'000), expected));
}

TEST(KeyChooser, hotspot_requests_go_to_the_hot_keys_as_often_as_asked) {
  key_chooser keys(
      workload_of("recordcount=500\nrequestdistribution=hotspot\nhotspotdatafraction=0.1\n"
                  "hotspotopnfraction=0.7"));
  std::vector<double> expected(500, 0.3 / 450);
  std::fill_n(expected.begin(), 50, 0.7 / 50);
  EXPECT_TRUE(follows(draw(keys, 499, 200'000), expected));
}

TEST(KeyChooser, latest_requests_follow_zipfs_law_by_age) {
  const std::uint64_t newest = 999;
  key_chooser keys(workload_of("recordcount=1000\nrequestdistribution=latest"));
  const auto counts = draw(keys, newest, 200'000);
  const std::vector<double> law = zipf_law(1000, 0.99);
  double total = 0;
  double drawn = 0;
  double furthest = 0;
  for (std::uint64_t age = 0; age <= newest; ++age) {
    drawn += static_cast<double>(counts[newest - age]) / 200'000;
    total += law[age];
    furthest = std::max(furthest, std::abs(drawn - total));
  }
  EXPECT_LT(furthest, 0.025);  // 0.02 of the approximation, and chance
}

TEST(KeyChooser, latest_requests_follow_the_inserts) {
  key_chooser keys(workload_of("recordcount=1000\nrequestdistribution=latest"));
  random_engine random(new_seed());
  for (const std::uint64_t newest : {999u, 1000u, 1500u, 20'000u}) {
    int of_newest = 0;
    constexpr int times = 50'000;
    for (int i = 0; i < times; ++i) {
      const std::uint64_t chosen = keys(random, newest);
      ASSERT_LE(chosen, newest);
      if (chosen == newest) ++of_newest;
    }
    const double expected = 1 / zeta(0, newest + 1, zipfian::standard_constant);
    const double deviation = std::sqrt(expected * (1 - expected) / times);
    EXPECT_NEAR(of_newest / static_cast<double>(times), expected, 5 * deviation);
  }
}

TEST(ScrambledZipfian, knows_the_zeta_of_its_ranks) {
  // Euler and Maclaurin: zeta(n) = zeta(m) + the integral from m to n + half the difference of
  // ends.
  const double constant = zipfian::standard_constant;
  const double n = 1e10;
  const double m = 1e5;
  const double integral = (std::pow(n, 1 - constant) - std::pow(m, 1 - constant)) / (1 - constant);
  const double ends = (std::pow(n, -constant) - std::pow(m, -constant)) / 2;
  EXPECT_NEAR(scrambled_zipfian::zeta_of_ranks, zeta(0, 100'000, constant) + integral + ends, 1e-6);
}

TEST(ScrambledZipfian, scatters_the_popular_items_and_keeps_their_shares) {
  constexpr std::uint64_t items = 10'000;
  constexpr int times = 1'000'000;
  const scrambled_zipfian chooser(items);
  random_engine random(new_seed());
  std::vector<std::uint64_t> counts(items);
  for (int i = 0; i < times; ++i) ++counts.at(chooser(random));
  // An item has the shares of all ranks that hash to it: of the popular ranks that we follow one by
  // one, and an even part of all the others.
  constexpr std::uint64_t followed = 2;
  std::vector<double> expected(items);
  double rest = 1;
  for (std::uint64_t rank = 0; rank < followed; ++rank) {
    const double share = std::pow(static_cast<double>(rank + 1), -zipfian::standard_constant) /
                         scrambled_zipfian::zeta_of_ranks;
    expected[fnv_hash(rank) % items] += share;
    rest -= share;
  }
  for (std::uint64_t rank = 0; rank < followed; ++rank) {
    const std::uint64_t item = fnv_hash(rank) % items;
    const double share = expected[item] + rest / items;
    const double deviation = std::sqrt(share * (1 - share) / times);
    // The even part varies from item to item by the ranks that happen to hash there.
    EXPECT_NEAR(static_cast<double>(counts[item]) / times, share, 5 * deviation + 3 * rest / items);
  }
}

TEST(KeyChooser, zipfian_requests_never_go_to_a_key_that_is_not_inserted_yet) {
  key_chooser keys(
      workload_of("recordcount=100\noperationcount=1000\nrequestdistribution=zipfian\n"
                  "readproportion=0.5\nupdateproportion=0\ninsertproportion=0.5"));
  random_engine random(new_seed());
  for (std::uint64_t newest = 99; newest < 400; ++newest) {
    for (int i = 0; i < 50; ++i) ASSERT_LE(keys(random, newest), newest);
  }
}

TEST(KeyChooser, zipfian_requests_keep_their_favourites_while_keys_are_added) {
  key_chooser keys(
      workload_of("recordcount=1000\noperationcount=1000\nrequestdistribution=zipfian\n"
                  "readproportion=0.5\nupdateproportion=0\ninsertproportion=0.5"));
  const auto favourite = [](const std::vector<std::uint64_t>& counts) {
    return std::max_element(counts.begin(), counts.end()) - counts.begin();
  };
  EXPECT_EQ(favourite(draw(keys, 999, 50'000)), favourite(draw(keys, 1000, 50'000)));
}

TEST(LengthChooser, draws_each_distribution_over_its_range) {
  random_engine random(new_seed());
  const auto counts_of = [&](length_distribution distribution) {
    const length_chooser lengths({5, 104, distribution});
    std::vector<std::uint64_t> counts(100);
    for (int i = 0; i < 100'000; ++i) ++counts.at(lengths(random) - 5);
    return counts;
  };
  EXPECT_TRUE(follows(counts_of(length_distribution::uniform), std::vector<double>(100, 0.01)));
  EXPECT_EQ(counts_of(length_distribution::constant)[99], 100'000u);
  const auto zipfian_counts = counts_of(length_distribution::zipfian);
  EXPECT_NEAR(static_cast<double>(zipfian_counts[0]) / 100'000, zipf_law(100, 0.99)[0], 0.007);
}

}  // namespace
}  // namespace unlatch::ycsb
