// SPDX-License-Identifier: Apache-2.0
//
// The studies whose cells are programs: one small cell each, and that a stop leaves nothing behind.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <future>
#include <thread>

#include "sample.hpp"
#include "studies/plan.hpp"

namespace unlatch::studies {
namespace {

/// Databases are made in a directory of the test's own.
class LeveldbStudies : public ::testing::Test {
 protected:
  LeveldbStudies() { setenv("TMPDIR", directory_.path().c_str(), 1); }
  ~LeveldbStudies() override { unsetenv("TMPDIR"); }

  static cell cell_of(const std::string& study, const std::string& case_name,
                      const std::string& operations) {
    request asked{.cases = {case_name}, .modes = {"unlatch"}, .threads = {2}, .repeats = 1};
    asked.params = {"operations=" + operations};
    for (cell& one : make_plan(find_study(study), asked).cells) {
      if (one.mode == "unlatch") return one;
    }
    throw std::logic_error("the plan has no cell of the mode that was asked for");
  }

  testing::temporary_directory directory_;
};

TEST_F(LeveldbStudies, measure_db_bench_and_count_its_context_switches) {
  for (const char* case_name : {"fillseq", "readrandom"}) {
    const auto measured = find_study("leveldb").measure(cell_of("leveldb", case_name, "500"), {});
    EXPECT_EQ(measured.ops, 1000);
    EXPECT_GT(measured.seconds, 0);
    EXPECT_TRUE(measured.context_switches);
    EXPECT_TRUE(measured.extra.contains("voluntary_context_switches"));
  }
  EXPECT_EQ(directory_.entries(), 0) << "a database was left behind";
}

TEST_F(LeveldbStudies, measure_ycsb_with_latency_percentiles) {
  const auto measured = find_study("ycsb").measure(cell_of("ycsb", "workloada", "1000"), {});
  EXPECT_EQ(measured.ops, 1000);
  EXPECT_GT(measured.seconds, 0);
  EXPECT_TRUE(measured.latency_us.contains("p50"));
  EXPECT_TRUE(measured.latency_us.contains("p99"));
  EXPECT_EQ(directory_.entries(), 0) << "a database was left behind";
}

TEST_F(LeveldbStudies, end_their_program_and_remove_its_database_when_a_stop_is_requested) {
  std::stop_source stop;
  auto ended = std::async(std::launch::async, [&] {
    find_study("leveldb").measure(cell_of("leveldb", "fillrandom", "100000000"), stop.get_token());
  });
  while (directory_.entries() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  stop.request_stop();
  EXPECT_THROW(ended.get(), interrupted);
  EXPECT_EQ(directory_.entries(), 0) << "a database was left behind";
}

}  // namespace
}  // namespace unlatch::studies
