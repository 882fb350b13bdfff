// SPDX-License-Identifier: Apache-2.0
//
// Programs do under the profiler what they do without it, however often it steps their sections.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstdlib>

#include "profile_test.hpp"

namespace unlatch::probe::testing {
namespace {

class Stepped : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Program, Stepped,
                         ::testing::Values("handles_faults", "handles_signals",
                                           "is_interrupted_in_system_calls",
                                           "sees_its_own_signal_mask", "forks_in_sections",
                                           "takes_the_lock_again", "computes"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Stepped, sees_nothing_of_it) {
  const std::string natively = std::string(UNLATCH_PROFILED_SUBJECT) + " " + GetParam();
  ASSERT_EQ(std::system(natively.c_str()), 0) << "without the profiler";
  const auto lock = profile_case(GetParam(), {"--budget", "50"}).lock("stepped_lock");
  ASSERT_FALSE(lock.is_null());
  EXPECT_GT(lock["sections"]["samples"], 0);
}

TEST(SteppedSections, that_end_the_program_end_it_as_ever) {
  const auto ended =
      profile({UNLATCH_PROFILED_SUBJECT, "ends_by_a_fault_in_a_section"}, {"--budget", "50"});
  EXPECT_EQ(ended.status, 128 + SIGSEGV);
  EXPECT_EQ(ended.acquired("stepped_lock"), 4000);
}

TEST(SteppedSections, of_one_lock_taken_twice_are_whole) {
  const auto lock = profile_case("takes_the_lock_again", {"--budget", "50"}).lock("stepped_lock");
  EXPECT_EQ(lock["sections"]["whole"], lock["sections"]["samples"]);
  EXPECT_EQ(lock["sections"]["nesting"], 0);
}

TEST(SteppedSections, are_stepped_up_to_a_system_call_that_may_sleep) {
  const auto lock =
      profile_case("is_interrupted_in_system_calls", {"--budget", "50"}).lock("stepped_lock");
  EXPECT_EQ(lock["sections"]["whole"], 0);
  EXPECT_EQ(lock["sections"]["unfriendly"], lock["sections"]["samples"]);
  EXPECT_EQ(lock["sections"]["events"][0]["what"], "read");
}

}  // namespace
}  // namespace unlatch::probe::testing
