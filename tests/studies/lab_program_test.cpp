// SPDX-License-Identifier: Apache-2.0
//
// The program that simulates is a shell script here: what is tested is how it is spoken to.
#include "studies/lab_program.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "sample.hpp"
#include "studies/models.hpp"

namespace unlatch::studies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A program that does what `script` says.
class scripted_program {
 public:
  explicit scripted_program(const std::string& script) : file_(directory_.path() / "unlatch-lab") {
    std::ofstream(file_) << "#!/bin/sh\n" << script << '\n';
    std::filesystem::permissions(file_, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  testing::temporary_directory directory_;
  std::filesystem::path file_;
};

lab_request sample_request() {
  cell what;
  what.case_name = "transfers";
  what.mode = "ttas";
  what.policy = "none";
  what.threads = 4;
  what.seed = 7;
  what.params = {{"accounts", 100}};
  what.virtual_limit_ms = 60;
  return {"bank", what, find_model("i7-4770"), true};
}

std::string error_of(const scripted_program& program) {
  try {
    (void)lab_program(program.file()).measure(sample_request(), {});
  } catch (const study_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(LabProtocol, a_request_is_read_as_it_was_written) {
  const auto request = sample_request();
  const auto read = parse_lab_request(to_json(request).dump());
  EXPECT_EQ(read.study, request.study);
  EXPECT_EQ(read.what.case_name, request.what.case_name);
  EXPECT_EQ(read.what.mode, request.what.mode);
  EXPECT_EQ(read.what.policy, request.what.policy);
  EXPECT_EQ(read.what.threads, request.what.threads);
  EXPECT_EQ(read.what.seed, request.what.seed);
  EXPECT_EQ(read.what.params, request.what.params);
  EXPECT_EQ(read.what.virtual_limit_ms, 60U);
  EXPECT_EQ(read.on.name, "i7-4770");
  EXPECT_EQ(read.on.listed, request.on.listed);
  EXPECT_TRUE(read.blame);
}

TEST(LabProtocol, a_measurement_is_read_as_it_was_written) {
  measurement measured;
  measured.ops = 5;
  measured.seconds = 0.25;
  measured.latency_us = {{"p50", 1.5}};
  measured.transactions = {10, 7, {1, 0, 1, 1}};
  measured.fallbacks = 3;
  measured.software = {4, 3, 1};
  measured.context_switches = 9;
  measured.extra = {{"series", {1, 2}}};
  const auto read = parse_measurement(to_json(measured).dump());
  EXPECT_EQ(to_json(read), to_json(measured));
  EXPECT_EQ(read.transactions, measured.transactions);
  EXPECT_EQ(read.software, measured.software);
}

TEST(LabProgram, gets_the_request_and_gives_the_measurement) {
  measurement answer;
  answer.ops = 42;
  answer.seconds = 0.5;
  const scripted_program program("cat > /dev/null; cat <<'END'\n" + to_json(answer).dump() +
                                 "\nEND");
  const auto measured = lab_program(program.file()).measure(sample_request(), {});
  EXPECT_EQ(measured.ops, 42U);
  EXPECT_EQ(measured.seconds, 0.5);
}

TEST(LabProgram, a_failure_is_told_with_the_cell_and_what_the_program_says) {
  EXPECT_THAT(error_of(scripted_program("echo 'deadlock: 2 threads wait' >&2; exit 1")),
              AllOf(HasSubstr("study bank, case transfers, mode ttas"), HasSubstr("on i7-4770"),
                    HasSubstr("exited with code 1: deadlock: 2 threads wait")));
  EXPECT_THAT(error_of(scripted_program("kill -SEGV $$")), HasSubstr("was killed"));
}

TEST(LabProgram, a_cell_that_was_given_up_is_told_from_a_failure) {
  const scripted_program program("echo 'not done after 240 ms of virtual time' >&2; exit 3");
  try {
    (void)lab_program(program.file()).measure(sample_request(), {});
    FAIL() << "nothing was thrown";
  } catch (const given_up& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("study bank, case transfers, mode ttas"),
                                    HasSubstr("4 threads on i7-4770: not done after 240 ms")));
  }
}

TEST(LabProtocol, a_cell_may_take_many_windows_and_something_before) {
  cell one;
  EXPECT_EQ(usual_virtual_limit_ms(one), 4000U);
  one.params = {{"window_ms", 50}};
  EXPECT_EQ(usual_virtual_limit_ms(one), 2000U);
  one.params = {{"operations", 5000}};
  one.threads = 4;
  EXPECT_EQ(usual_virtual_limit_ms(one), 6000U);
  EXPECT_EQ(virtual_limit_ms(one), 6000U);
  one.virtual_limit_ms = 7;
  EXPECT_EQ(virtual_limit_ms(one), 7U);
}

TEST(LabProgram, an_answer_that_is_no_measurement_is_told) {
  EXPECT_THAT(error_of(scripted_program("echo hello")), HasSubstr("answered what cannot be read"));
}

TEST(LabProgram, a_stop_request_ends_it) {
  const scripted_program program("exec sleep 600");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW((void)lab_program(program.file()).measure(sample_request(), stop.get_token()),
               interrupted);
}

TEST(LabProgram, a_name_in_the_environment_that_is_no_file_is_told) {
  ::setenv("UNLATCH_LAB_PROGRAM", "/nowhere/unlatch-lab", 1);
  try {
    (void)lab_program();
    FAIL() << "it was found";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/unlatch-lab, which is not there"));
  }
  ::unsetenv("UNLATCH_LAB_PROGRAM");
}

}  // namespace
}  // namespace unlatch::studies
