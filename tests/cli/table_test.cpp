// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unlatch::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<studies::summary_row> sample_rows() {
  studies::summary_row stock;
  stock.study = "leveldb";
  stock.where = "native";
  stock.case_name = "fillseq";
  stock.params = {{"value_size", 50}};
  stock.threads = 2;
  stock.mode = "stock";
  stock.policy = "none";
  stock.repeats = 7;
  stock.throughput = {312'400, 300'000, 320'000};
  stock.control = studies::spread{1.01, 0.99, 1.02};
  stock.context_switches = 120'000;
  studies::summary_row ours = stock;
  ours.mode = "unlatch";
  ours.policy = "adaptive";
  ours.throughput = {577'000, 560'000, 1'200'000};
  ours.speedup = studies::spread{1.847, 1.8, 1.9};
  ours.context_switches = 12;
  ours.outcome = studies::verdict::gains;
  return {stock, ours};
}

TEST(Table, shows_each_mode_with_spread_control_and_verdict) {
  EXPECT_EQ(
      to_table(sample_rows()),
      "leveldb, value_size=50, 7 repeats\n"
      "  case     threads  mode              ops/s  least..most  speed-up      spread  control"
      "  switches  verdict\n"
      "  fillseq        2  stock              312k   300k..320k                          1.01x"
      "      120k  baseline\n"
      "  fillseq        2  unlatch/adaptive   577k  560k..1.20M     1.85x  1.80..1.90    1.01x"
      "      12.0  gains\n");
}

TEST(Table, writes_a_losing_cell_in_capitals) {
  auto rows = sample_rows();
  rows[1].outcome = studies::verdict::loses;
  EXPECT_THAT(to_table(rows), HasSubstr("  LOSES\n"));
}

TEST(Table, has_no_column_for_switches_that_nobody_counted) {
  auto rows = sample_rows();
  for (auto& row : rows) row.context_switches.reset();
  EXPECT_THAT(to_table(rows), Not(HasSubstr("switches")));
}

TEST(Table, labels_what_was_simulated_and_keeps_it_apart) {
  auto rows = sample_rows();
  rows[1].where = "haswell-8";
  EXPECT_THAT(to_table(rows), HasSubstr("\n\nleveldb (SIMULATED on haswell-8), value_size=50"));
}

TEST(Table, is_empty_without_rows) { EXPECT_EQ(to_table({}), ""); }

}  // namespace
}  // namespace unlatch::cli
