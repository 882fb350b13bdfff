// SPDX-License-Identifier: Apache-2.0
#include "studies/nearest_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace unlatch::studies {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> cases{"fillseq", "fillrandom", "readrandom", "overwrite",
                                     "readwhilewriting"};

TEST(EditDistance, counts_insertions_deletions_replacements_and_swaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("bank", "bnak"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3);
}

TEST(NearestNames, come_nearest_first) {
  EXPECT_THAT(nearest_names("filrandom", cases), ElementsAre("fillrandom"));
  EXPECT_THAT(nearest_names("abcde", {"abcx", "abcd", "abxx"}), ElementsAre("abcd", "abcx"));
}

TEST(NearestNames, include_those_that_begin_with_the_word) {
  EXPECT_THAT(nearest_names("fill", cases), ElementsAre("fillseq", "fillrandom"));
}

TEST(NearestNames, are_none_for_a_word_like_no_other) {
  EXPECT_THAT(nearest_names("xyzzy", cases), IsEmpty());
  EXPECT_THAT(nearest_names("", cases), IsEmpty());
  EXPECT_THAT(nearest_names("xy", {"a", "b"}), IsEmpty());
}

TEST(UnknownName, says_what_comes_nearest_or_what_there_is) {
  EXPECT_STREQ(unknown_name("case", "filseq", cases).what(),
               "unknown case 'filseq'; did you mean fillseq?");
  EXPECT_STREQ(unknown_name("mode", "xyzzy", {"stock", "unlatch"}).what(),
               "unknown mode 'xyzzy'; there is stock, unlatch");
  EXPECT_STREQ(unknown_name("policy", "x", {}).what(),
               "unknown policy 'x'; there is none to choose");
}

TEST(RequireName, accepts_exactly_the_known_names) {
  EXPECT_NO_THROW(require_name("case", "fillseq", cases));
  EXPECT_THROW(require_name("case", "fillsequence", cases), unknown_name);
}

}  // namespace
}  // namespace unlatch::studies
