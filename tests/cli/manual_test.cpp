// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "../studies/sample.hpp"
#include "cli/program.hpp"
#include "studies/plan.hpp"
#include "subprocess.hpp"

namespace unlatch::cli {
namespace {

using ::testing::HasSubstr;

/// The installed page, its escapes undone.
std::string plain_page() {
  std::string page = studies::testing::contents_of(UNLATCH_MAN_PAGE);
  page = std::regex_replace(page, std::regex(R"(\\-)"), "-");
  page = std::regex_replace(page, std::regex(R"(\\f[BIR])"), "");
  return page;
}

TEST(Manual, is_what_the_program_prints) {
  EXPECT_EQ(testing::run({"--man"}).out, studies::testing::contents_of(UNLATCH_MAN_PAGE));
}

TEST(Manual, has_the_sections_of_a_manual_page) {
  for (const char* title : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS",
                            "ENVIRONMENT", "FILES", "EXAMPLES"}) {
    EXPECT_THAT(plain_page(), HasSubstr(std::string(".SH ") + title + "\n"));
  }
}

TEST(Manual, has_every_option_that_help_shows) {
  const std::string page = plain_page();
  const std::regex option(R"((^|[\s,])(--?[a-z]+))");
  std::size_t found = 0;
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"info"},
                                                {"list"},
                                                {"model"},
                                                {"study"},
                                                {"report"},
                                                {"emulate"}}) {
    auto arguments = words;
    arguments.emplace_back("--help");
    std::istringstream help(testing::run(arguments).out);
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  -")) continue;
      const std::string head = line.substr(0, line.find(' ', 2));
      for (std::sregex_iterator match(head.begin(), head.end(), option), end; match != end;
           ++match) {
        EXPECT_THAT(page, HasSubstr((*match)[2].str())) << line;
        ++found;
      }
    }
  }
  EXPECT_GE(found, 15);
}

TEST(Manual, has_every_exit_status_of_the_program) {
  for (const int code : {success, failure, usage, interrupted}) {
    EXPECT_THAT(plain_page(), HasSubstr(".B " + std::to_string(code) + "\n"));
  }
}

/// Whether a study of the examples is in this build.
bool is_built(const std::string& study) {
#ifdef UNLATCH_STUDIES_OF_LEVELDB
  constexpr bool with_leveldb = true;
#else
  constexpr bool with_leveldb = false;
#endif
  return study != "leveldb" || with_leveldb;
}

TEST(Manual, gives_examples_that_parse_and_name_what_there_is) {
  for (const auto& [command, meaning] : manual_examples()) {
    SCOPED_TRACE(command);
    CLI::App app;
    arguments asked;
    declare(app, asked);
    ASSERT_TRUE(command.starts_with("unlatch "));
    EXPECT_NO_THROW(app.parse(command.substr(8), false));
    if (!app.got_subcommand("study") || !is_built(asked.study.name)) continue;
    EXPECT_NO_THROW(
        static_cast<void>(make_plan(studies::find_study(asked.study.name), asked.study.asked)));
  }
}

TEST(Manual, has_no_fault_that_groff_warns_of) {
  if (std::system("command -v groff > /dev/null") != 0) GTEST_SKIP() << "groff is not installed";
  const studies::testing::temporary_directory directory;
  const auto warnings = (directory.path() / "warnings").string();
  const std::string command =
      "groff -man -ww -Tutf8 -z " UNLATCH_MAN_PAGE " > " + warnings + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(studies::testing::contents_of(warnings), "");
}

}  // namespace
}  // namespace unlatch::cli
