// SPDX-License-Identifier: Apache-2.0
#include "cli/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "../studies/sample.hpp"
#include "studies/record.hpp"
#include "subprocess.hpp"

namespace unlatch::cli {
namespace {

using studies::testing::temporary_directory;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::outcome;
using testing::run;
using ::testing::StartsWith;

/// A study that takes no time: one case, one mode, one thread, three repeats of a millisecond.
std::vector<std::string> short_study(const std::filesystem::path& out) {
  return {"study", "bank",     "--case", "transfers", "--mode",       "ttas",  "--threads",
          "1",     "--repeat", "3",      "--param",   "window_ms=10", "--out", out.string()};
}

TEST(Program, exits_with_0_for_help_and_version) {
  EXPECT_EQ(run({"--help"}).status, success);
  EXPECT_EQ(run({"--version"}).status, success);
  for (const char* command : {"info", "list", "model", "study", "report"}) {
    const outcome ended = run({command, "--help"});
    EXPECT_EQ(ended.status, success) << command;
    EXPECT_THAT(ended.out, HasSubstr("Usage: unlatch " + std::string(command)));
  }
}

TEST(Program, exits_with_2_and_the_nearest_right_name_for_a_wrong_one) {
  const auto expect = [](const std::vector<std::string>& arguments, const std::string& message) {
    const outcome ended = run(arguments);
    EXPECT_EQ(ended.status, usage) << message;
    EXPECT_EQ(ended.err, "unlatch: " + message + "\n");
    EXPECT_THAT(ended.out, IsEmpty());
  };
  expect({"stduy", "bank"}, "unknown command 'stduy'; did you mean study?");
  expect({"--hlep"}, "unknown option '--hlep'; did you mean --help?");
  expect({"study", "bnak"}, "unknown study 'bnak'; did you mean bank?");
  expect({"study", "bank", "--treads", "2"}, "unknown option '--treads'; did you mean --threads?");
  expect({"study", "bank", "--treads=2"}, "unknown option '--treads'; did you mean --threads?");
  expect({"study", "bank", "--case", "transfer"},
         "unknown case 'transfer'; did you mean transfers?");
  expect({"study", "bank", "--mode", "tats"}, "unknown mode 'tats'; did you mean ttas?");
  expect({"study", "bank", "--policy", "adaptve"},
         "unknown policy 'adaptve'; did you mean adaptive?");
  expect({"study", "bank", "--param", "account=5"},
         "unknown parameter 'account'; did you mean accounts?");
}

TEST(Program, exits_with_2_for_a_command_line_that_says_too_little_or_too_much) {
  EXPECT_EQ(run({}).status, usage);
  EXPECT_EQ(run({"study"}).status, usage);
  EXPECT_EQ(run({"study", "bank", "--threads", "many"}).status, usage);
  EXPECT_EQ(run({"study", "bank", "--repeat", "0"}).status, usage);
  EXPECT_EQ(run({"study", "bank", "--mode", "ttas", "--policy", "glibc"}).status, usage);
  const outcome ended = run({"study", "bank", "hash_map"});
  EXPECT_EQ(ended.status, usage);
  EXPECT_THAT(ended.err, HasSubstr("'hash_map' is one argument too many"));
}

TEST(Program, takes_the_study_after_options_with_lists) {
  const temporary_directory directory;
  const outcome ended =
      run({"study", "--threads", "1", "--case", "transfers", "--mode", "ttas", "--repeat", "1",
           "--param", "window_ms=10", "--out", directory.path().string(), "bank"});
  EXPECT_EQ(ended.status, success) << ended.err;
}

TEST(Info, says_what_the_cpu_offers_for_people_and_for_machines) {
  const outcome text = run({"info"});
  EXPECT_EQ(text.status, success);
  EXPECT_THAT(text.out, AllOf(HasSubstr("Hardware transactions"), HasSubstr("Caches"),
                              HasSubstr("What the library does here")));
  const outcome json = run({"info", "--json"});
  const auto object = nlohmann::json::parse(json.out);
  EXPECT_TRUE(object.at("transactions").at("rtm").is_boolean());
  EXPECT_TRUE(object.at("library").at("elision").is_string());
}

TEST(List, names_every_study_for_people_and_for_machines) {
  const outcome text = run({"list"});
  const auto object = nlohmann::json::parse(run({"list", "--json"}).out);
  ASSERT_FALSE(object.at("studies").empty());
  for (const auto& study : object["studies"]) {
    EXPECT_THAT(text.out, HasSubstr(study.at("name").get<std::string>()));
    for (const auto& mode : study.at("modes")) {
      EXPECT_THAT(text.out, HasSubstr(mode.at("description").get<std::string>()));
    }
  }
  for (const auto& policy : object.at("policies")) {
    EXPECT_THAT(text.out, HasSubstr(policy.at("description").get<std::string>()));
  }
}

TEST(Study, prints_a_table_and_keeps_the_records) {
  const temporary_directory directory;
  const outcome ended = run(short_study(directory.path() / "run"));
  EXPECT_EQ(ended.status, success) << ended.err;
  EXPECT_THAT(ended.out, AllOf(StartsWith("bank, accounts=10000, window_ms=10, 3 repeats"),
                               HasSubstr("std_mutex"), HasSubstr("ttas"), HasSubstr("baseline")));
  const auto file = directory.path() / "run" / "bank.jsonl";
  EXPECT_EQ(ended.err, "9 of 9 cells are in " + file.string() + "\n");
  EXPECT_EQ(studies::read_records(file).size(), 9);
}

TEST(Study, prints_only_json_on_standard_output_when_asked_to) {
  const temporary_directory directory;
  auto arguments = short_study(directory.path());
  arguments.emplace_back("--json");
  const auto rows = nlohmann::json::parse(run(arguments).out);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0].at("mode"), "std_mutex");
  EXPECT_EQ(rows[1].at("mode"), "ttas");
  EXPECT_TRUE(rows[1].at("speedup").at("median").is_number());
  EXPECT_TRUE(rows[1].at("control").at("median").is_number());
  EXPECT_TRUE(rows[1].at("verdict").is_string());
}

TEST(Study, shows_no_progress_in_a_pipe) {
  const temporary_directory directory;
  EXPECT_THAT(run(short_study(directory.path())).err, Not(HasSubstr("\r")));
}

TEST(Study, shows_progress_on_a_terminal_and_clears_it) {
  const temporary_directory directory;
  testing::subprocess program(short_study(directory.path()), true);
  const outcome ended = program.wait();
  EXPECT_EQ(ended.status, success);
  EXPECT_THAT(ended.err, HasSubstr("\r\x1b[K[0/9] transfers, std_mutex, 1 thread; 0:00 gone"));
  EXPECT_THAT(ended.err, HasSubstr("[8/9]"));
  EXPECT_THAT(ended.err, HasSubstr("\r\x1b[K9 of 9 cells are in "));
}

TEST(Study, fails_with_1_when_the_records_cannot_be_written) {
  const temporary_directory directory;
  const auto file = directory.path() / "file";
  std::ofstream(file) << "in the way";
  const outcome ended = run(short_study(file));
  EXPECT_EQ(ended.status, failure);
  EXPECT_THAT(ended.err, StartsWith("unlatch: " + file.string() + ": "));
}

TEST(Report, makes_a_page_of_the_records_of_a_study) {
  const temporary_directory directory;
  const auto page = directory.path() / "page.html";
  ASSERT_EQ(run(short_study(directory.path() / "run")).status, success);
  const outcome ended = run({"report", (directory.path() / "run").string(), "-o", page.string()});
  EXPECT_EQ(ended.status, success) << ended.err;
  EXPECT_EQ(ended.err, "9 records are in " + page.string() + "\n");
  EXPECT_THAT(studies::testing::contents_of(page), HasSubstr("std_mutex-control"));
}

TEST(Report, fails_with_1_naming_the_directory_or_the_line_that_is_wrong) {
  const temporary_directory directory;
  const auto page = (directory.path() / "page.html").string();
  const auto absent = (directory.path() / "absent").string();
  const outcome no_directory = run({"report", absent, "-o", page});
  EXPECT_EQ(no_directory.status, failure);
  EXPECT_THAT(no_directory.err, StartsWith("unlatch: " + absent + ": cannot be read"));

  const auto run_directory = directory.path() / "run";
  std::filesystem::create_directory(run_directory);
  EXPECT_THAT(run({"report", run_directory.string(), "-o", page}).err,
              HasSubstr("holds no records"));

  auto record = studies::to_json(studies::testing::full_record());
  std::ofstream(run_directory / "a.jsonl") << record << '\n';
  record.erase("threads");
  std::ofstream(run_directory / "b.jsonl") << record << '\n';
  const outcome malformed = run({"report", run_directory.string(), "-o", page});
  EXPECT_EQ(malformed.status, failure);
  EXPECT_THAT(malformed.err, HasSubstr((run_directory / "b.jsonl:1: field 'threads'").string()));
  EXPECT_FALSE(std::filesystem::exists(page));
}

TEST(Report, fails_with_1_and_leaves_nothing_when_the_page_cannot_be_written) {
  const temporary_directory directory;
  std::ofstream(directory.path() / "a.jsonl")
      << studies::to_json(studies::testing::full_record()) << '\n';
  const auto page = directory.path() / "absent" / "page.html";
  const outcome ended = run({"report", directory.path().string(), "-o", page.string()});
  EXPECT_EQ(ended.status, failure);
  EXPECT_EQ(ended.err, "unlatch: " + page.string() +
                           ": No such file or directory; choose another place or make it "
                           "writable\n");
  EXPECT_EQ(directory.entries(), 1);
}

}  // namespace
}  // namespace unlatch::cli
