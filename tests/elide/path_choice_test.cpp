// SPDX-License-Identifier: Apache-2.0
#include "unlatch/path_choice.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace unlatch::detail {
namespace {

/// Runs sections whose cost on each path is made up by waiting on the time-stamp counter, and
/// returns the share of them that ran in software.
double software_share(path_choice& choice, unsigned sections, std::uint64_t software_ticks,
                      std::uint64_t direct_ticks) {
  unsigned in_software = 0;
  for (unsigned i = 0; i < sections; ++i) {
    const bool software = choice.next() == path::software;
    in_software += software;
    const std::uint64_t end = timestamp() + (software ? software_ticks : direct_ticks);
    while (timestamp() < end) {
    }
  }
  return static_cast<double>(in_software) / sections;
}

class PathChoice : public ::testing::Test {
 protected:
  std::unique_ptr<thread_row> row = std::make_unique<thread_row>();
  path_choice& choice = path_choice::of(*row);
};

// A hundred ticks a section on one path and two thousand on the other leave no doubt on a busy
// machine.

TEST_F(PathChoice, runs_in_software_where_that_is_much_faster) {
  EXPECT_GT(software_share(choice, 100'000, 100, 2000), 0.9);
}

TEST_F(PathChoice, runs_under_the_lock_where_that_is_much_faster) {
  EXPECT_LT(software_share(choice, 100'000, 2000, 100), 0.1);
}

TEST_F(PathChoice, changes_its_mind_when_the_costs_change) {
  software_share(choice, 50'000, 100, 2000);
  EXPECT_LT(software_share(choice, 200'000, 2000, 100), 0.5);
}

TEST_F(PathChoice, spends_little_on_the_slower_path) {
  software_share(choice, 50'000, 2000, 100);
  EXPECT_LT(software_share(choice, 100'000, 2000, 100), 0.05);
}

}  // namespace
}  // namespace unlatch::detail
