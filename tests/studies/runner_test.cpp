// SPDX-License-Identifier: Apache-2.0
#include "studies/runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace unlatch::studies {
namespace {

using ::testing::HasSubstr;

class Runner : public ::testing::Test {
 protected:
  plan small_plan() {
    request asked;
    asked.cases = {"easy"};
    asked.threads = {2};
    asked.repeats = 2;
    return make_plan(sample_, asked);
  }

  testing::temporary_directory directory_;
  study sample_ = testing::sample_study();
  record_file file_{directory_.path(), "sample"};
  std::stop_source stop_;
};

TEST_F(Runner, keeps_a_record_of_every_cell) {
  const plan made = small_plan();
  const auto result = run(made, file_, stop_.get_token());
  EXPECT_FALSE(result.interrupted);
  const auto records = read_records(file_.path());
  ASSERT_EQ(records.size(), made.cells.size());
  EXPECT_EQ(records, result.records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].study, "sample");
    EXPECT_EQ(records[i].mode, made.cells[i].recorded_mode());
    EXPECT_EQ(records[i].baseline, "stock");
    EXPECT_EQ(records[i].throughput, made.cells[i].mode == "stock" ? 100 : 200);
    EXPECT_EQ(records[i].command, rerun_command(sample_, made.cells[i]));
    EXPECT_EQ(records[i].build, build_id());
    EXPECT_GE(records[i].host.cpus, 1);
  }
}

TEST_F(Runner, writes_each_cell_before_the_next_begins) {
  std::size_t cells = 0;
  sample_.measure = [&](const cell&, const std::stop_token&) {
    EXPECT_EQ(cells == 0 ? 0 : read_records(file_.path()).size(), cells);
    ++cells;
    return measurement{.ops = 1, .seconds = 1};
  };
  run(small_plan(), file_, stop_.get_token());
  EXPECT_EQ(cells, 8);
}

TEST_F(Runner, keeps_what_was_finished_when_a_cell_is_abandoned) {
  std::size_t cells = 0;
  sample_.measure = [&](const cell&, const std::stop_token& stop) {
    if (++cells == 4) {
      stop_.request_stop();
      if (stop.stop_requested()) throw interrupted();
    }
    return measurement{.ops = 1, .seconds = 1};
  };
  const auto result = run(small_plan(), file_, stop_.get_token());
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.records.size(), 3);
  EXPECT_EQ(read_records(file_.path()), result.records);
}

TEST_F(Runner, keeps_the_cell_that_was_finished_when_the_stop_came) {
  sample_.measure = [&](const cell&, const std::stop_token&) {
    stop_.request_stop();
    return measurement{.ops = 1, .seconds = 1};
  };
  const auto result = run(small_plan(), file_, stop_.get_token());
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(read_records(file_.path()).size(), 1);
}

TEST_F(Runner, keeps_what_was_finished_when_a_cell_fails) {
  std::size_t cells = 0;
  sample_.measure = [&](const cell&, const std::stop_token&) -> measurement {
    if (++cells == 3) throw study_error("the sum is wrong");
    return {.ops = 1, .seconds = 1};
  };
  EXPECT_THROW(run(small_plan(), file_, stop_.get_token()), study_error);
  EXPECT_EQ(read_records(file_.path()).size(), 2);
}

TEST_F(Runner, goes_on_after_a_cell_that_is_given_up) {
  std::size_t cells = 0;
  sample_.measure = [&](const cell&, const std::stop_token&) -> measurement {
    if (++cells == 3) throw given_up("a livelock");
    return {.ops = 1, .seconds = 1};
  };
  std::vector<progress> seen;
  const auto result = run(small_plan(), file_, stop_.get_token(),
                          [&](const progress& now) { seen.push_back(now); });
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.given_up, std::vector<std::string>{"a livelock"});
  EXPECT_EQ(read_records(file_.path()).size(), 7);
  EXPECT_EQ(seen.back().done, 8);
}

TEST_F(Runner, refuses_a_measurement_that_took_no_time) {
  sample_.measure = [](const cell&, const std::stop_token&) { return measurement{.ops = 1}; };
  try {
    run(small_plan(), file_, stop_.get_token());
    FAIL() << "nothing was thrown";
  } catch (const study_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("study sample, case easy, mode stock: measured 1"));
  }
}

TEST_F(Runner, reports_progress_before_every_cell_and_at_the_end) {
  const plan made = small_plan();
  std::vector<progress> seen;
  run(made, file_, stop_.get_token(), [&](const progress& now) { seen.push_back(now); });
  ASSERT_EQ(seen.size(), made.cells.size() + 1);
  for (std::size_t i = 0; i < made.cells.size(); ++i) {
    EXPECT_EQ(seen[i].done, i);
    EXPECT_EQ(seen[i].total, made.cells.size());
    EXPECT_EQ(seen[i].next, &made.cells[i]);
  }
  EXPECT_EQ(seen.back().done, made.cells.size());
  EXPECT_EQ(seen.back().next, nullptr);
  EXPECT_EQ(seen.back().remaining, 0);
}

}  // namespace
}  // namespace unlatch::studies
