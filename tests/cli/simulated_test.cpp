// SPDX-License-Identifier: Apache-2.0
//
// Models on the command line, and studies on them; a shell script stands for the simulator.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../studies/sample.hpp"
#include "cli/program.hpp"
#include "studies/lab_protocol.hpp"
#include "studies/record.hpp"
#include "subprocess.hpp"

namespace unlatch::cli {
namespace {

using studies::testing::temporary_directory;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::outcome;
using testing::run;

/// While it lives, the program finds a simulator that measures 1000 operations in a second, once it
/// has done what `first` says to its standard input.
class scripted_lab {
 public:
  explicit scripted_lab(const std::string& first = "cat > /dev/null") {
    studies::measurement answer;
    answer.ops = 1000;
    answer.seconds = 1;
    answer.extra = {{"figures", {{"begin_commit", {{"value", 41.0}, {"unit", "cycles"}}}}}};
    const auto file = directory_.path() / "unlatch-lab";
    std::ofstream(file) << "#!/bin/sh\n"
                        << first << "\ncat <<'END'\n"
                        << studies::to_json(answer).dump() << "\nEND\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    ::setenv("UNLATCH_LAB_PROGRAM", file.c_str(), 1);
  }
  scripted_lab(const scripted_lab&) = delete;
  scripted_lab& operator=(const scripted_lab&) = delete;
  ~scripted_lab() { ::unsetenv("UNLATCH_LAB_PROGRAM"); }

  [[nodiscard]] std::filesystem::path out() const { return directory_.path() / "run"; }

 private:
  temporary_directory directory_;
};

TEST(Model, lists_the_models_and_prints_one_for_people_and_for_machines) {
  EXPECT_THAT(run({"model"}).out, AllOf(HasSubstr("i5-4670t"), HasSubstr("2x-xeon-gold-6226")));
  EXPECT_THAT(run({"model", "i7-4770"}).out,
              AllOf(HasSubstr("3400 MHz"), HasSubstr("Johnson 2014"), HasSubstr("begin_commit")));
  const auto object = nlohmann::json::parse(run({"model", "i7-4770", "--json"}).out);
  EXPECT_EQ(object.at("constants").at("mhz").at("value"), 3400);
}

TEST(Model, a_wrong_name_is_told_with_the_nearest) {
  const outcome ended = run({"model", "i7-4779"});
  EXPECT_EQ(ended.status, usage);
  EXPECT_EQ(ended.err, "unlatch: unknown model 'i7-4779'; did you mean i7-4770?\n");
}

TEST(SimulatedStudy, calls_its_figures_simulated_in_table_and_record) {
  const scripted_lab lab;
  const outcome ended = run({"study", "bank", "--on", "i7-4770", "--case", "transfers", "--mode",
                             "ttas", "--out", lab.out().string()});
  ASSERT_EQ(ended.status, success) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("bank (SIMULATED on i7-4770)"));
  EXPECT_THAT(ended.out, Not(HasSubstr("control")));
  const auto records = studies::read_records(lab.out() / "bank.jsonl");
  ASSERT_EQ(records.size(), 8U);  // std_mutex and ttas on 1, 2, 4 and 8 threads
  for (const auto& record : records) {
    EXPECT_EQ(record.where, "i7-4770");
    EXPECT_TRUE(record.simulated());
    EXPECT_THAT(record.command, HasSubstr("--on i7-4770"));
  }
}

TEST(SimulatedStudy, is_the_same_record_twice) {
  const scripted_lab lab;
  const std::vector<std::string> command{"study",     "bank",   "--on",   "i7-4770",
                                         "--case",    "audits", "--mode", "ttas",
                                         "--threads", "1",      "--out",  lab.out().string()};
  const auto file = lab.out() / "bank.jsonl";
  ASSERT_EQ(run(command).status, success);
  const auto first = studies::testing::contents_of(file);
  ASSERT_EQ(run(command).status, success);
  EXPECT_EQ(studies::testing::contents_of(file), first);
}

TEST(SimulatedStudy, tells_of_cells_that_were_given_up_and_keeps_the_others) {
  const scripted_lab lab("grep -q '\"mode\":\"ttas\"' && { echo 'not done' >&2; exit 3; }");
  const outcome ended = run({"study", "bank", "--on", "i7-4770", "--case", "audits", "--mode",
                             "ttas", "--threads", "1,2", "--out", lab.out().string()});
  EXPECT_EQ(ended.status, failure);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("mode ttas, policy none, 1 threads on i7-4770: not done"),
                    HasSubstr("2 threads on i7-4770: not done"), HasSubstr("2 of 4 cells are in")));
  EXPECT_EQ(studies::read_records(lab.out() / "bank.jsonl").size(), 2U);  // std_mutex
}

TEST(SimulatedStudy, explaining_needs_a_simulated_machine) {
  const outcome ended = run({"study", "bank", "--explain"});
  EXPECT_EQ(ended.status, usage);
  EXPECT_THAT(ended.err, HasSubstr("choose one with --on"));
}

}  // namespace
}  // namespace unlatch::cli
