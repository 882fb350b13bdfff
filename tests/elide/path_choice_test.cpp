// SPDX-License-Identifier: Apache-2.0
#include "unlatch/path_choice.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace unlatch::detail {
namespace {

/// Runs sections whose cost on each path is made up by waiting on the time-stamp counter, and
/// returns the share of them that ran in software.
double software_share(path_choice& choice, thread_row& row, unsigned sections,
                      std::uint64_t software_ticks, std::uint64_t direct_ticks) {
  unsigned in_software = 0;
  for (unsigned i = 0; i < sections; ++i) {
    const bool software = choice.now() == path::speculative;
    in_software += software;
    const std::uint64_t end = timestamp() + (software ? software_ticks : direct_ticks);
    while (timestamp() < end) {
    }
    choice.section_ended(row);
  }
  return static_cast<double>(in_software) / sections;
}

class PathChoice : public ::testing::Test {
 protected:
  double share(unsigned sections, std::uint64_t software_ticks, std::uint64_t direct_ticks) {
    return software_share(*choice, *row, sections, software_ticks, direct_ticks);
  }

  std::unique_ptr<thread_row> row = std::make_unique<thread_row>();
  std::unique_ptr<path_choice> choice = std::make_unique<path_choice>();
};

// A hundred ticks a section on one path and two thousand on the other leave no doubt on a busy
// machine.

TEST_F(PathChoice, runs_in_software_where_that_is_much_faster) {
  EXPECT_GT(share(100'000, 100, 2000), 0.9);
}

TEST_F(PathChoice, runs_under_the_lock_where_that_is_much_faster) {
  EXPECT_LT(share(100'000, 2000, 100), 0.1);
}

TEST_F(PathChoice, changes_its_mind_when_the_costs_change) {
  share(50'000, 100, 2000);
  EXPECT_LT(share(200'000, 2000, 100), 0.5);
}

TEST_F(PathChoice, spends_little_on_the_slower_path) {
  share(50'000, 2000, 100);
  EXPECT_LT(share(100'000, 2000, 100), 0.05);
}

TEST_F(PathChoice, sends_all_threads_the_same_way) {
  share(50'000, 100, 2000);
  const auto other = std::make_unique<thread_row>();
  EXPECT_GT(software_share(*choice, *other, 1000, 100, 2000), 0.9)
      << "this thread has measured nothing";
}

TEST_F(PathChoice, gets_another_driver_when_the_first_falls_silent) {
  share(50'000, 100, 2000);
  const auto other = std::make_unique<thread_row>();
  const std::uint64_t end = timestamp() + 2 * path_choice::silence;
  while (timestamp() < end) {
  }
  EXPECT_LT(software_share(*choice, *other, 200'000, 2000, 100), 0.5);
}

}  // namespace
}  // namespace unlatch::detail
