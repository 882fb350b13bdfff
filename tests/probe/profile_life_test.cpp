// SPDX-License-Identifier: Apache-2.0
//
// A profile and its program, whatever that does to its processes, threads, files and signals.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "../studies/sample.hpp"
#include "profile_test.hpp"

namespace unlatch::probe::testing {
namespace {

using ::testing::HasSubstr;

TEST(Processes, that_are_forked_are_counted_for_themselves) {
  const auto ended = profile_case("forks");
  EXPECT_EQ(ended.acquired("counted_lock"), 300 + 20 + 500 + 7);
  EXPECT_EQ(ended.report["processes"], 2);
}

TEST(Processes, that_are_forked_by_a_system_call_are_counted_for_themselves) {
  const auto ended = profile_case("forks_by_a_system_call");
  EXPECT_EQ(ended.acquired("counted_lock"), 300 + 500);
  EXPECT_EQ(ended.report["processes"], 2);
}

TEST(Processes, that_execute_another_program_are_counted_with_it) {
  const auto ended = profile_case("executes_another");
  EXPECT_EQ(ended.acquired("counted_lock"), 10);
  EXPECT_EQ(ended.acquired("hot_lock"), 5000);
}

TEST(Threads, that_come_and_go_are_all_counted_in_little_room) {
  const studies::testing::temporary_directory directory;
  const auto file = directory.path() / "recording";
  const auto ended = profile_case("starts_and_ends_threads", {"--out", file.string()});
  EXPECT_EQ(ended.acquired("counted_lock"), 2000);
  EXPECT_LT(std::filesystem::file_size(file), 1 << 20);
}

TEST(Threads, may_be_cancelled_while_they_wait_for_a_condition) {
  const auto ended = profile_case("cancels_a_waiting_thread");
  EXPECT_EQ(ended.acquired("cancelled_lock"), 2);
}

TEST(Handlers, of_signals_may_take_locks) {
  const auto ended = profile_case("takes_locks_in_a_handler");
  // Those that interrupt the recorder itself are not counted.
  EXPECT_EQ(ended.acquired("counted_lock"), 60'000);
  EXPECT_GT(ended.acquired("handlers_lock"), 100);
}

TEST(Files, may_all_be_closed_by_the_program) {
  EXPECT_EQ(profile_case("closes_all_files").acquired("counted_lock"), 100);
}

TEST(Recordings, are_whole_when_the_program_is_killed_or_crashes) {
  for (const auto& [name, signal] : {std::pair{"is_killed", SIGKILL}, {"crashes", SIGSEGV}}) {
    SCOPED_TRACE(name);
    const auto ended = profile({UNLATCH_PROFILED_SUBJECT, name});
    EXPECT_EQ(ended.status, 128 + signal);
    EXPECT_EQ(ended.acquired("counted_lock"), 1000);
  }
}

TEST(Recordings, can_be_read_while_the_program_runs_and_after_everything_was_killed) {
  const studies::testing::temporary_directory directory;
  const auto file = (directory.path() / "recording").string();
  const auto acquired = [&file] {
    const auto read = cli::testing::run({"profile", "--json", "--read", file});
    profiled result{read.status, "", "", report_in(read.out)};
    return result.report.is_discarded() ? -1 : result.acquired("counted_lock");
  };
  {
    cli::testing::subprocess running(
        {"profile", "--out", file, "--", UNLATCH_PROFILED_SUBJECT, "stays"});
    for (int i = 0; i < 1000 && acquired() < 1000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(acquired(), 1000);
  }  // kill -9, and with it goes the program
  EXPECT_EQ(acquired(), 1000);
}

/// Lets this process and those it starts write no file beyond so many bytes, while it lives.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;
  ~file_size_limit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(Recordings, that_find_no_more_room_are_told_and_leave_the_program_alone) {
  const file_size_limit limit(3 * 65536);  // the header, the modules and one block of rows
  const auto ended = profile_case("takes_many_locks");
  EXPECT_THAT(ended.err, HasSubstr("the recording may not grow further"));
  EXPECT_GT(ended.report["lost_uses"], 2000);
  EXPECT_THAT(ended.report["failure"].get<std::string>(), HasSubstr("too large"));
}

TEST(Programs, keep_their_output_and_exit_status) {
  const auto ended = profile({"/bin/sh", "-c", "echo $((6 * 7)); exit 5"});
  EXPECT_EQ(ended.status, 5);
  EXPECT_EQ(ended.out, "42\n");
}

std::string complaint(const std::vector<std::string>& words) {
  const auto ended = cli::testing::run(words);
  EXPECT_TRUE(ended.status == 1 || ended.status == 2) << ended.status;
  return ended.err;
}

TEST(Refusals, what_is_asked_wrongly_is_told) {
  const studies::testing::temporary_directory directory;
  const auto text = (directory.path() / "text").string();
  std::ofstream(text) << "not a recording\n";
  EXPECT_THAT(complaint({"profile"}), HasSubstr("--read"));
  EXPECT_THAT(complaint({"profile", "--read", "/no/such/file"}), HasSubstr("No such file"));
  EXPECT_THAT(complaint({"profile", "--read", text}), HasSubstr("not a recording"));
  EXPECT_THAT(complaint({"profile", "--out", text, "--", "true"}), HasSubstr("not a recording"));
  EXPECT_THAT(complaint({"profile", "--out", "/no/such/directory/x", "--", "true"}),
              HasSubstr("No such file"));
  EXPECT_THAT(complaint({"profile", "--", "no-such-program-anywhere"}),
              HasSubstr("no program of that name in PATH"));
}

}  // namespace
}  // namespace unlatch::probe::testing
