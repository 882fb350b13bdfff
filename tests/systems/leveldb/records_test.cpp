// SPDX-License-Identifier: Apache-2.0
//
// What the YCSB client writes and how it measures: records, the sequence of inserts, latencies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "goodness_of_fit.hpp"
#include "systems/leveldb/ycsb/insert_sequence.hpp"
#include "systems/leveldb/ycsb/latency_histogram.hpp"
#include "systems/leveldb/ycsb/record.hpp"
#include "workload_of.hpp"

namespace unlatch::ycsb {
namespace {

using unlatch::testing::new_seed;

TEST(KeyName, scatters_keys_unless_they_are_inserted_in_order) {
  EXPECT_EQ(key_name(workload_of("recordcount=1"), 1), "user8517097267634966620");
  EXPECT_EQ(key_name(workload_of("recordcount=1\ninsertorder=ordered"), 17), "user17");
  EXPECT_EQ(key_name(workload_of("recordcount=1\ninsertorder=ordered\nzeropadding=6"), 17),
            "user000017");
}

TEST(Record, has_every_field_at_its_length) {
  random_engine random(new_seed());
  const record_builder records(workload_of("recordcount=1\nfieldcount=3\nfieldlength=20"));
  EXPECT_EQ(records.record(random).size(), 3 * (4 + 20u));
}

TEST(Record, an_update_replaces_one_field) {
  random_engine random(new_seed());
  const record_builder records(workload_of("recordcount=1\nfieldcount=4\nfieldlength=16"));
  const std::string before = records.record(random);
  std::vector<int> times_changed(4);
  for (int i = 0; i < 200; ++i) {
    std::string after = before;
    records.update(after, random);
    ASSERT_EQ(after.size(), before.size());
    int changed = 0;
    for (std::size_t field = 0; field < 4; ++field) {
      if (before.substr(field * 20, 20) == after.substr(field * 20, 20)) continue;
      ++changed;
      ++times_changed[field];
    }
    EXPECT_EQ(changed, 1);
  }
  EXPECT_GT(*std::ranges::min_element(times_changed), 0) << "a field is never updated";
}

TEST(Record, an_update_of_another_length_keeps_the_other_fields) {
  random_engine random(new_seed());
  const record_builder records(
      workload_of("recordcount=1\nfieldcount=3\nfieldlength=50\nfieldlengthdistribution=uniform"));
  std::string record = records.record(random);
  for (int i = 0; i < 100; ++i) records.update(record, random);
  std::size_t fields = 0;
  for (std::size_t at = 0; at < record.size(); ++fields) {
    const std::size_t length = static_cast<unsigned char>(record[at]);
    ASSERT_GE(length, 1u);
    ASSERT_LE(length, 50u);
    at += 4 + length;
    ASSERT_LE(at, record.size());
  }
  EXPECT_EQ(fields, 3u);
}

TEST(Record, an_update_of_something_else_is_refused) {
  random_engine random(new_seed());
  const record_builder records(workload_of("recordcount=1\nfieldcount=1"));
  for (std::string foreign : {"", "abc", "zzzz"}) {
    EXPECT_THROW(records.update(foreign, random), std::invalid_argument) << foreign;
  }
}

TEST(InsertSequence, counts_a_key_once_all_before_it_are_there) {
  insert_sequence inserts(9);
  EXPECT_EQ(inserts.next(), 10u);
  EXPECT_EQ(inserts.next(), 11u);
  EXPECT_EQ(inserts.next(), 12u);
  inserts.acknowledge(12);
  inserts.acknowledge(11);
  EXPECT_EQ(inserts.newest(), 9u);
  inserts.acknowledge(10);
  EXPECT_EQ(inserts.newest(), 12u);
}

TEST(InsertSequence, gives_each_number_to_one_thread) {
  constexpr int threads = 4;
  constexpr int each = 5000;
  insert_sequence inserts(0);
  std::vector<std::vector<std::uint64_t>> taken(threads);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      for (int i = 0; i < each; ++i) {
        const std::uint64_t number = inserts.next();
        taken[thread].push_back(number);
        inserts.acknowledge(number);
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  std::vector<std::uint64_t> all;
  for (const auto& numbers : taken) all.insert(all.end(), numbers.begin(), numbers.end());
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), std::size_t{threads * each});
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i + 1);
  EXPECT_EQ(inserts.newest(), std::uint64_t{threads * each});
}

TEST(LatencyHistogram, is_empty_at_first) {
  const latency_histogram latencies;
  EXPECT_EQ(latencies.count(), 0u);
  EXPECT_EQ(latencies.percentile(0.5), 0u);
  EXPECT_EQ(latencies.longest(), 0u);
}

TEST(LatencyHistogram, is_exact_for_short_durations) {
  latency_histogram latencies;
  for (std::uint64_t i = 0; i < 64; ++i) latencies.record(i);
  for (std::uint64_t i = 1; i <= 64; ++i) {
    EXPECT_EQ(latencies.percentile(static_cast<double>(i) / 64), i - 1);
  }
}

TEST(LatencyHistogram, percentiles_are_within_a_bucket_of_the_sorted_samples) {
  random_engine random(new_seed());
  latency_histogram latencies;
  std::vector<std::uint64_t> samples;
  for (int i = 0; i < 20'000; ++i) {
    samples.push_back(random() >> (uniform_below(random, 64)));
    latencies.record(samples.back());
  }
  std::ranges::sort(samples);
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * 20'000)) - 1;
    const auto exact = static_cast<double>(samples[rank]);
    const auto found = static_cast<double>(latencies.percentile(share));
    EXPECT_GE(found, exact) << share;
    EXPECT_LE(found, exact * (1 + 1.0 / 32) + 1) << share;
  }
  EXPECT_EQ(latencies.longest(), samples.back());
}

TEST(LatencyHistogram, merged_is_one_that_recorded_all) {
  latency_histogram first;
  latency_histogram second;
  latency_histogram both;
  for (std::uint64_t i = 1; i < 10'000'000; i *= 3) {
    (i % 2 == 0 ? first : second).record(i);
    both.record(i);
  }
  first.record(5);
  both.record(5);
  first.merge(second);
  EXPECT_EQ(first.count(), both.count());
  EXPECT_EQ(first.longest(), both.longest());
  for (double share = 0.05; share <= 1; share += 0.05) {
    EXPECT_EQ(first.percentile(share), both.percentile(share));
  }
}

}  // namespace
}  // namespace unlatch::ycsb
