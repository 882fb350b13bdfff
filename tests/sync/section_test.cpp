// SPDX-License-Identifier: Apache-2.0
#include "unlatch/section.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace unlatch::testing {
namespace {

using detail::section_context;

class SectionContext : public ::testing::Test {
 protected:
  auto note(char c) {
    return [this, c] { done += c; };
  }
  section_context section;
  std::string done;
  int a = 0, b = 0, c = 0;  // stand for locks
};

TEST_F(SectionContext, closes_the_sections_of_a_lock_from_the_inside) {
  section.open(&a, 1, 1);
  section.open(&b, 2, 1);
  section.open(&a, 3, 1);
  EXPECT_EQ(section.close(&a).row, 3);
  EXPECT_TRUE(section.is_open(&a));
  EXPECT_EQ(section.close(&a).row, 1);
  EXPECT_FALSE(section.is_open(&a));
  EXPECT_TRUE(section.is_open(&b));
  EXPECT_EQ(section.close(&b).row, 2);
  EXPECT_FALSE(section.in_transaction());
}

TEST_F(SectionContext, opens_so_many_sections_and_no_more) {
  for (unsigned i = 0; i < section_context::max_open; ++i) {
    EXPECT_TRUE(section.can_open());
    section.open(&a, 0, 1);
  }
  EXPECT_FALSE(section.can_open());
}

TEST_F(SectionContext, runs_what_waits_for_a_lock_apart_from_the_rest) {
  section.enter_closure();
  section.defer(&a, note('a'));
  section.defer(&b, note('b'));
  section.defer(&a, note('A'));
  section.defer(nullptr, note('0'));
  section.run_deferred(&a);
  EXPECT_EQ(done, "aA");
  section.leave_closure();
  section.run_deferred_if_outermost();
  EXPECT_EQ(done, "aA0");
  section.run_deferred(&b);
  EXPECT_EQ(done, "aA0b");
  EXPECT_EQ(section.deferred_count(), 0u);
}

TEST_F(SectionContext, runs_nothing_inside_a_closure_or_transaction) {
  section.enter_closure();
  section.defer(nullptr, note('1'));
  section.run_deferred_if_outermost();
  section.open(&a, 0, 1);
  section.leave_closure();
  section.run_deferred_if_outermost();
  EXPECT_EQ(done, "");
  section.close(&a);
  section.run_deferred_if_outermost();
  EXPECT_EQ(done, "1");
}

TEST_F(SectionContext, forgets_what_an_undone_section_put_off_and_frees_it) {
  const auto held = std::make_shared<int>(1);
  section.enter_closure();
  section.defer(nullptr, note('1'));
  section.defer(nullptr, [this, held] { done += '2'; });
  EXPECT_EQ(held.use_count(), 2);
  section.drop_deferred(1);
  EXPECT_EQ(held.use_count(), 1);
  section.leave_closure();
  section.run_deferred_if_outermost();
  EXPECT_EQ(done, "1");
}

TEST_F(SectionContext, keeps_the_entry_of_a_transaction_that_stays_open) {
  static int commits;
  commits = 0;
  section.open(&a, 7, 2);
  EXPECT_TRUE(section.is_outermost(&a));
  EXPECT_EQ(section.keep_open([](const detail::open_section& first) { commits += first.row; }), 7);
  EXPECT_TRUE(section.in_transaction());
  EXPECT_FALSE(section.is_open(&a)) << "the section itself has ended";
  EXPECT_FALSE(section.resume(&b, 8));
  EXPECT_TRUE(section.resume(&a, 8));
  EXPECT_TRUE(section.is_open(&a));
  section.commit_kept();
  EXPECT_EQ(commits, 0) << "a section is open";
  section.keep_open([](const detail::open_section& first) { commits += first.row; });
  EXPECT_EQ(section.joined(), 2u);
  section.commit_kept();
  EXPECT_EQ(commits, 7) << "the row of the section that began";
  EXPECT_FALSE(section.in_transaction());
}

}  // namespace
}  // namespace unlatch::testing
