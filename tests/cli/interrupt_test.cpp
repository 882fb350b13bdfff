// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "../studies/sample.hpp"
#include "cli/program.hpp"
#include "studies/record.hpp"
#include "subprocess.hpp"

namespace unlatch::cli {
namespace {

using studies::testing::temporary_directory;
using ::testing::HasSubstr;

/// Waits, for as long as the test may run, until `file` is there.
void await(const std::filesystem::path& file) {
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::vector<std::string> long_study(const std::filesystem::path& out, const std::string& window) {
  return {"study",    "bank",  "--case",  "transfers", "--threads", "2",
          "--repeat", "10000", "--param", window,      "--out",     out.string()};
}

class Interrupt : public ::testing::TestWithParam<int> {};

TEST_P(Interrupt, keeps_the_finished_cells_and_exits_with_130) {
  const temporary_directory directory;
  const auto file = directory.path() / "bank.jsonl";
  testing::subprocess program(long_study(directory.path(), "window_ms=1"));
  await(file);
  ASSERT_EQ(kill(program.id(), GetParam()), 0);
  const auto ended = program.wait();
  EXPECT_EQ(ended.status, interrupted) << ended.err;
  const auto records = studies::read_records(file);
  EXPECT_FALSE(records.empty());
  EXPECT_THAT(ended.err,
              HasSubstr("unlatch: interrupted; " + std::to_string(records.size()) + " of "));
  EXPECT_THAT(ended.out, HasSubstr("std_mutex")) << "the table of what was finished";
  EXPECT_EQ(directory.entries(), 1) << "nothing half-written is left";
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupt, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& info) { return info.param == SIGINT ? "INT" : "TERM"; });

/// The number of threads of a process.
std::size_t threads_of(pid_t id) {
  const std::filesystem::directory_iterator tasks("/proc/" + std::to_string(id) + "/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(InterruptLongCell, abandons_it_and_says_that_nothing_was_written) {
  const temporary_directory directory;
  testing::subprocess program(long_study(directory.path(), "window_ms=600000"));
  // The two workers, the one that waits for the signal, and the main thread.
  while (threads_of(program.id()) < 4) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_EQ(kill(program.id(), SIGINT), 0);
  const auto ended = program.wait();
  EXPECT_EQ(ended.status, interrupted);
  EXPECT_THAT(ended.err, HasSubstr("interrupted; no cell was finished, nothing was written"));
  EXPECT_EQ(directory.entries(), 0);
}

}  // namespace
}  // namespace unlatch::cli
