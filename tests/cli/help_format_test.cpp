// SPDX-License-Identifier: Apache-2.0
#include "cli/help_format.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "subprocess.hpp"

namespace unlatch::cli {
namespace {

TEST(Wrapped, breaks_between_words_and_never_within_one) {
  EXPECT_EQ(wrapped("", 10), "");
  EXPECT_EQ(wrapped("one two", 7), "one two");
  EXPECT_EQ(wrapped("one two", 6), "one\ntwo");
  EXPECT_EQ(wrapped("a extraordinary b c", 5), "a\nextraordinary\nb c");
  EXPECT_EQ(wrapped("  spaces\n between ", 20), "spaces between");
}

TEST(Help, fits_eighty_columns) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"info", "--help"},
                                                    {"list", "--help"},
                                                    {"study", "--help"},
                                                    {"report", "--help"},
                                                    {"emulate", "--help"}}) {
    std::istringstream help(testing::run(arguments).out);
    for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 80) << line;
  }
}

}  // namespace
}  // namespace unlatch::cli
