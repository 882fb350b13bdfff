// SPDX-License-Identifier: Apache-2.0
//
// What a profile tells of sections, and what it advises: of programs with one cause each.
#include <gmock/gmock.h>

#include <vector>

#include "profile_test.hpp"

namespace unlatch::probe::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Short programs, so that enough of their sections are looked into.
nlohmann::json lock_of(const std::string& name, std::vector<std::string> options = {},
                       const std::string& lock = "section_lock") {
  options.insert(options.end(), {"--budget", "50"});
  auto found = profile_case(name, options).lock(lock);
  EXPECT_FALSE(found.is_null());
  return found;
}

/// All advice for a lock.
std::vector<std::string> advice_in(const nlohmann::json& lock) {
  std::vector<std::string> kinds;
  for (const auto& each : lock["advice"]) kinds.push_back(each["advice"]);
  return kinds;
}

std::string first_reason(const nlohmann::json& lock) { return lock["advice"][0]["reason"]; }

double share(const nlohmann::json& lock, const char* of) {
  return lock["sections"][of].get<double>() / lock["sections"]["samples"].get<double>();
}

double pair_share(const nlohmann::json& lock, const char* kind) {
  const auto& sections = lock["sections"];
  return sections["conflicting_by"][kind].get<double>() / sections["pairs"].get<double>();
}

TEST(Sections, that_touch_different_lines_are_to_be_elided) {
  const auto lock = lock_of("counts_apart");
  EXPECT_THAT(advice_in(lock), ElementsAre("elide")) << lock;
  EXPECT_GT(lock["advice"][0]["threads_gained"], 0);
  const auto& sections = lock["sections"];
  EXPECT_GE(sections["samples"], 10);
  EXPECT_EQ(sections["whole"], sections["samples"]);
  EXPECT_EQ(sections["conflicting"], 0);
  // A counter, and what the calls put on the stack.
  EXPECT_GE(sections["lines_written"]["p50"], 1);
  EXPECT_LE(sections["lines_written"]["p50"], 3);
  EXPECT_GT(sections["instructions"]["p50"], 5);
  EXPECT_LT(sections["instructions"]["p50"], 40);
}

TEST(Sections, that_write_the_same_bytes_are_left_alone_and_both_sides_are_named) {
  const auto lock = lock_of("counts_together");
  EXPECT_THAT(advice_in(lock), ElementsAre("leave alone")) << lock;
  EXPECT_GT(pair_share(lock, "true sharing"), 0.99);
  EXPECT_EQ(pair_share(lock, "false sharing"), 0);
  const auto& met = lock["sections"]["conflicts"][0];
  EXPECT_EQ(met["kind"], "true sharing");
  for (const auto& side : met["sides"]) {
    EXPECT_EQ(side["object"], "shared_counter");
    EXPECT_THAT(side["where"], HasSubstr("count_together at profile_subject_sections.cpp:"));
    EXPECT_EQ(side["first_byte"], 0);
    EXPECT_EQ(side["last_byte"], 7);
  }
}

TEST(Sections, that_write_other_bytes_of_a_line_are_to_be_padded) {
  const auto lock = lock_of("counts_nearby");
  EXPECT_THAT(advice_in(lock), ElementsAre("pad")) << lock;
  EXPECT_THAT(first_reason(lock), AllOf(HasSubstr("(neighbours)"), HasSubstr("(neighbours + 8)"),
                                        HasSubstr("count_nearby")));
  EXPECT_GT(pair_share(lock, "false sharing"), 0.99);
  EXPECT_EQ(pair_share(lock, "true sharing"), 0);
}

TEST(Sections, that_write_to_the_line_of_the_lock_are_to_be_padded) {
  const auto lock = lock_of("counts_beside_the_lock", {}, "crowded_lock");
  EXPECT_THAT(advice_in(lock), ElementsAre("pad")) << lock;
  EXPECT_THAT(first_reason(lock), HasSubstr("data on the line of the lock"));
}

TEST(Sections, that_overflow_the_cache_of_the_machine_that_is_asked_about_are_to_be_split) {
  const auto small = lock_of("writes_many_lines", {"--model", "i7-4770"});
  EXPECT_THAT(advice_in(small), ElementsAre("split")) << small;
  EXPECT_GT(share(small, "overflowing"), 0.95);
  // 600 lines of 512 do not fit, of 768 they do.
  const auto large = lock_of("writes_many_lines", {"--model", "xeon-8480"});
  EXPECT_EQ(share(large, "overflowing"), 0) << large;
  EXPECT_GE(large["sections"]["lines_written"]["p50"], 600);
}

TEST(Sections, that_make_system_calls_are_told_which_to_move_out) {
  const auto lock = lock_of("makes_system_calls");
  EXPECT_THAT(advice_in(lock), ElementsAre("move out")) << lock;
  EXPECT_THAT(first_reason(lock), HasSubstr("the system call getppid"));
  EXPECT_GT(share(lock, "unfriendly"), 0.99);
}

TEST(Sections, that_execute_unfriendly_instructions_are_told_where) {
  const auto lock = lock_of("asks_the_cpu");
  EXPECT_THAT(advice_in(lock), ElementsAre("move out")) << lock;
  EXPECT_THAT(first_reason(lock), AllOf(HasSubstr("cpuid"), HasSubstr("ask_the_cpu at ")));
}

TEST(Sections, that_are_hardly_contended_are_left_alone) {
  const auto lock = lock_of("is_left_in_peace");
  EXPECT_THAT(advice_in(lock), ElementsAre("leave alone")) << lock;
  EXPECT_THAT(first_reason(lock), HasSubstr("had to wait"));
}

TEST(Sections, that_take_other_locks_are_followed_behind_them) {
  const auto lock = lock_of("takes_two_locks");
  EXPECT_EQ(share(lock, "nesting"), 1);
  EXPECT_EQ(lock["sections"]["whole"], lock["sections"]["samples"]);
  EXPECT_GE(lock["sections"]["lines_written"]["p50"], 1);
}

TEST(Sections, that_allocate_are_told_and_their_memory_is_not_data) {
  const auto lock = lock_of("allocates");
  EXPECT_EQ(share(lock, "allocating"), 1);
  EXPECT_EQ(pair_share(lock, "true sharing"), 0) << lock;
}

TEST(Sections, that_throw_are_followed) {
  const auto lock = lock_of("throws");
  EXPECT_GT(lock["sections"]["instructions"]["p50"], 500);
  EXPECT_GT(share(lock, "whole"), 0.9);
}

TEST(Sections, that_touch_new_pages_are_told) {
  const auto faults = lock_of("touches_new_pages")["sections"]["page_faults"];
  EXPECT_GT(faults["known"], 5);
  EXPECT_GT(faults["faulting"].get<double>(), 0.9 * faults["known"].get<double>());
}

TEST(Budget, of_nothing_looks_into_no_section) {
  const auto lock = profile_case("counts_apart", {"--budget", "0"}).lock("section_lock");
  EXPECT_EQ(lock["sections"]["samples"], 0);
  EXPECT_THAT(advice_in(lock), ElementsAre("not known"));
}

}  // namespace
}  // namespace unlatch::probe::testing
