// SPDX-License-Identifier: Apache-2.0
//
// The driver against the programs it drives: small cells on every LevelDB that is built.
#include "systems/leveldb/db_bench.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <stop_token>
#include <string>

namespace unlatch::leveldb_driver {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

template <class Action>
std::string complaint_of(Action action) {
  try {
    action();
  } catch (const program_error& error) {
    return error.what();
  }
  return "no complaint";
}

db_bench_cell cell_of(const std::string& benchmark, unsigned threads, std::uint64_t operations) {
  db_bench_cell cell;
  cell.benchmark = benchmark;
  cell.threads = threads;
  cell.operations_per_thread = operations;
  return cell;
}

TEST(DbBenchOutput, a_write_takes_the_time_that_the_rate_says) {
  const auto result = parse_db_bench(
      "Keys:       16 bytes each\n"
      "WARNING: Snappy compression is not enabled\n"
      "------------------------------------------------\n"
      "fillrandom   :       3.420 micros/op;   36.8 MB/s\n",
      cell_of("fillrandom", 2, 100'000));
  EXPECT_EQ(result.operations, 200'000u);
  EXPECT_DOUBLE_EQ(result.micros_per_op, 3.42);
  EXPECT_DOUBLE_EQ(result.seconds, 200'000 * 66 / (36.8 * 1048576));
}

TEST(DbBenchOutput, a_read_takes_the_mean_time_of_a_thread) {
  const auto result =
      parse_db_bench("readrandom   :       2.500 micros/op; (63190 of 100000 found)\n",
                     cell_of("readrandom", 4, 100'000));
  EXPECT_EQ(result.operations, 400'000u);
  EXPECT_DOUBLE_EQ(result.seconds, 0.25);
  EXPECT_DOUBLE_EQ(result.throughput(), 1.6e6);
}

TEST(DbBenchOutput, the_benchmark_asked_for_is_found_among_others) {
  const auto result = parse_db_bench(
      "fillrandom   :       9.000 micros/op;   10.0 MB/s\n"
      "compact      :  100000.000 micros/op;\n"
      "readrandom   :       1.250 micros/op; (1 of 2 found)\n",
      cell_of("readrandom", 1, 1000));
  EXPECT_DOUBLE_EQ(result.micros_per_op, 1.25);
}

TEST(DbBenchOutput, a_missing_result_is_reported_with_what_was_printed) {
  EXPECT_THAT(
      complaint_of([] {
        (void)parse_db_bench("unknown benchmark 'fillrondom'\n", cell_of("fillrondom", 1, 1));
      }),
      ::testing::AllOf(HasSubstr("no time for 'fillrondom'"), HasSubstr("unknown benchmark")));
}

TEST(FindProgram, says_where_it_looked_and_what_to_do) {
  EXPECT_THAT(complaint_of([] { (void)find_program("leveldb_db_bench_none"); }),
              ::testing::AllOf(HasSubstr("cannot find leveldb_db_bench_none near"),
                               HasSubstr("UNLATCH_BUILD_SYSTEMS")));
  EXPECT_THAT(complaint_of([] { (void)find_program("leveldb_db_bench_stock", "/nowhere"); }),
              HasSubstr("no leveldb_db_bench_stock in /nowhere"));
}

TEST(RunProgram, a_failure_carries_the_exit_code_and_the_last_words) {
  EXPECT_THAT(complaint_of([] {
                (void)run_program("/bin/sh", {"-c", "echo progress >&2; echo cause >&2; exit 3"});
              }),
              ::testing::AllOf(HasSubstr("/bin/sh exited with code 3"), HasSubstr("cause")));
  EXPECT_THAT(complaint_of([] {
                (void)run_program("/bin/sh", {"-c", "kill -9 $$"});
              }),
              HasSubstr("was killed"));
  EXPECT_THAT(complaint_of([] { (void)run_program("/no/such/program", {}); }),
              HasSubstr("cannot start /no/such/program"));
}

TEST(RunProgram, reads_any_amount_of_output_from_both_streams) {
  const auto output = run_program(
      "/bin/sh",
      {"-c", "i=0; while [ $i -lt 20000 ]; do echo out; echo error >&2; i=$((i+1)); done"});
  EXPECT_EQ(output.text.size(), 4u * 20'000);
}

TEST(RunProgram, counts_the_context_switches_of_that_program) {
  EXPECT_GE(run_program("/bin/sh", {"-c", "sleep 0.01"}).switches.voluntary, 1u);
}

TEST(RunProgram, a_stop_request_ends_it) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(complaint_of([&] { (void)run_program("/bin/sleep", {"1000"}, stop.get_token()); }),
              HasSubstr("was killed"));
}

TEST(ScratchDirectory, is_gone_with_its_contents_at_the_end) {
  fs::path path;
  {
    const scratch_directory scratch;
    path = scratch.path();
    EXPECT_TRUE(fs::is_directory(path));
    fs::create_directories(path / "a/b");
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THAT(complaint_of([] { const scratch_directory scratch("/no/such/directory"); }),
              HasSubstr("cannot make a directory"));
}

class Programs : public ::testing::TestWithParam<std::string> {};

TEST_P(Programs, db_bench_runs_every_benchmark_of_the_study) {
  const fs::path program = find_program("leveldb_db_bench_" + GetParam());
  const scratch_directory scratch;
  for (const std::string_view benchmark : db_bench_benchmarks) {
    db_bench_cell cell = cell_of(std::string(benchmark), 2, 500);
    cell.scratch = scratch.path();
    const db_bench_result result = run_db_bench(program, cell);
    EXPECT_EQ(result.operations, 1000u) << benchmark;
    EXPECT_GT(result.seconds, 0) << benchmark;
    EXPECT_GT(result.micros_per_op, 0) << benchmark;
    EXPECT_TRUE(fs::is_empty(scratch.path())) << benchmark << " left its database behind";
  }
}

TEST_P(Programs, ycsb_loads_and_runs_every_core_workload) {
  const fs::path program = find_program("leveldb_ycsb_" + GetParam());
  for (const char letter : {'a', 'b', 'c', 'd', 'e', 'f'}) {
    ycsb_cell cell;
    cell.workload = std::string("workload") + letter;
    cell.threads = 3;
    cell.settings = {"recordcount=400", "operationcount=1000"};
    const ycsb_results results = run_ycsb(program, cell);
    EXPECT_EQ(results.load.operations, 400u) << letter;
    EXPECT_EQ(results.run.operations, 1000u) << letter;
    EXPECT_GT(results.run.throughput(), 0) << letter;
    EXPECT_LE(results.run.latency_us.at("p50"), results.run.latency_us.at("max")) << letter;
  }
}

TEST_P(Programs, ycsb_says_what_is_wrong_with_a_setting) {
  ycsb_cell cell;
  cell.workload = "workloada";
  cell.settings = {"readproportion=often"};
  EXPECT_THAT(
      complaint_of([&] { (void)run_ycsb(find_program("leveldb_ycsb_" + GetParam()), cell); }),
      HasSubstr("-p: readproportion: 'often' is not a number from 0 to 1"));
}

TEST_P(Programs, ycsb_finds_every_record_that_it_loaded) {
  const fs::path program = find_program("leveldb_ycsb_" + GetParam());
  const scratch_directory database;
  const auto output =
      run_program(program, {"--json", "--workload=workloadd", "--db=" + database.path().string(),
                            "--threads=4", "-p", "recordcount=300", "-p", "operationcount=4000",
                            "-p", "readproportion=0.5", "-p", "insertproportion=0.5"});
  EXPECT_THAT(output.text, HasSubstr("\"phase\":\"run\""));
  EXPECT_THAT(output.text, ::testing::Not(::testing::ContainsRegex("\"not_found\":[1-9]")));
}

INSTANTIATE_TEST_SUITE_P(Variants, Programs, ::testing::Values(UNLATCH_LEVELDB_VARIANTS),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace unlatch::leveldb_driver
