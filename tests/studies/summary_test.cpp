// SPDX-License-Identifier: Apache-2.0
#include "studies/summary.hpp"

#include <gtest/gtest.h>

#include "sample.hpp"

namespace unlatch::studies {
namespace {

record run_of(const std::string& mode, unsigned repeat, double throughput) {
  record one = testing::full_record();
  one.mode = mode;
  one.policy = mode == "unlatch" ? "adaptive" : "none";
  one.repeat = repeat;
  one.throughput = throughput;
  return one;
}

TEST(Spread, is_the_median_between_the_least_and_the_most) {
  const spread odd = spread_of({5, 1, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.most, 5);
  EXPECT_EQ(spread_of({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(spread_of({7}).median, 7);
  EXPECT_THROW(static_cast<void>(spread_of({})), std::invalid_argument);
}

TEST(Verdict, loses_below_0_97_and_gains_above_1_03) {
  EXPECT_EQ(judge(0.969), verdict::loses);
  EXPECT_EQ(judge(0.97), verdict::equal);
  EXPECT_EQ(judge(1.03), verdict::equal);
  EXPECT_EQ(judge(1.031), verdict::gains);
  EXPECT_EQ(to_string(verdict::loses), "LOSES");
  EXPECT_EQ(to_string(verdict::equal), "equal");
  EXPECT_EQ(to_string(verdict::gains), "gains");
}

TEST(Summary, pairs_each_run_with_the_baseline_of_its_own_repeat) {
  // The machine was ten times slower in the second repeat: unpaired medians would say 0.55.
  const std::vector<record> records{
      run_of("stock", 1, 1000), run_of("unlatch", 1, 2000), run_of("stock-control", 1, 1010),
      run_of("stock", 2, 100),  run_of("unlatch", 2, 210),  run_of("stock-control", 2, 98)};
  const auto rows = summarize(records);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].mode, "stock");
  EXPECT_FALSE(rows[0].speedup);
  EXPECT_FALSE(rows[0].outcome);
  EXPECT_EQ(rows[1].mode, "unlatch");
  EXPECT_EQ(rows[1].repeats, 2);
  ASSERT_TRUE(rows[1].speedup);
  EXPECT_DOUBLE_EQ(rows[1].speedup->median, 2.05);
  EXPECT_DOUBLE_EQ(rows[1].speedup->least, 2.0);
  EXPECT_DOUBLE_EQ(rows[1].speedup->most, 2.1);
  EXPECT_EQ(rows[1].outcome, verdict::gains);
  for (const auto& row : rows) {
    ASSERT_TRUE(row.control);
    EXPECT_DOUBLE_EQ(row.control->median, 0.995);
  }
}

TEST(Summary, calls_a_losing_cell_by_its_name) {
  const auto rows = summarize(std::vector{run_of("stock", 1, 100), run_of("unlatch", 1, 90)});
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[1].outcome, verdict::loses);
  EXPECT_EQ(to_json(rows[1]).at("verdict"), "LOSES");
  EXPECT_FALSE(to_json(rows[0]).contains("verdict"));
}

TEST(Summary, keeps_cells_apart_that_differ_in_anything_but_repeat) {
  std::vector<record> records{run_of("stock", 1, 100)};
  const auto another = [&](auto change) {
    record one = run_of("stock", 1, 100);
    change(one);
    records.push_back(one);
  };
  another([](record& one) { one.study = "other"; });
  another([](record& one) { one.case_name = "other"; });
  another([](record& one) { one.where = "haswell-8"; });
  another([](record& one) { one.threads = 8; });
  another([](record& one) { one.params["value_size"] = 100; });
  another([](record& one) { one.policy = "glibc"; });
  another([](record& one) { one.repeat = 2; });
  EXPECT_EQ(summarize(records).size(), records.size() - 1);
}

TEST(Summary, has_no_ratio_without_a_baseline_run_of_the_same_repeat) {
  const auto rows = summarize(std::vector{run_of("stock", 1, 100), run_of("unlatch", 2, 90)});
  ASSERT_EQ(rows.size(), 2);
  EXPECT_FALSE(rows[1].speedup);
  EXPECT_FALSE(rows[1].control);
}

TEST(Summary, takes_the_median_of_context_switches) {
  std::vector<record> records{run_of("stock", 1, 100), run_of("stock", 2, 100),
                              run_of("stock", 3, 100)};
  records[0].context_switches = 5;
  records[1].context_switches = 1;
  records[2].context_switches = 9;
  EXPECT_EQ(summarize(records).front().context_switches, 5);
  for (auto& one : records) one.context_switches.reset();
  EXPECT_FALSE(summarize(records).front().context_switches);
}

}  // namespace
}  // namespace unlatch::studies
