// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.hpp"

#include <gtest/gtest.h>

namespace unlatch::cli {
namespace {

const studies::cell control{"fillrandom", "stock", "none", true, 2, 1, 1, {}};

TEST(ProgressLine, says_what_runs_and_how_long_it_will_take) {
  EXPECT_EQ(progress_line({12, 252, 83.9, 250.2, &control}, 200),
            "[ 12/252] fillrandom, stock-control, 2 threads; 1:23 gone, about 4:10 left");
}

TEST(ProgressLine, promises_nothing_before_the_first_cell_and_at_the_end) {
  EXPECT_EQ(progress_line({0, 9, 0.2, 0, &control}, 200),
            "[0/9] fillrandom, stock-control, 2 threads; 0:00 gone");
  EXPECT_EQ(progress_line({9, 9, 3601, 0, nullptr}, 200), "[9/9] 60:01 gone");
}

TEST(ProgressLine, fits_the_terminal) {
  EXPECT_EQ(progress_line({12, 252, 83.9, 250.2, &control}, 14), "[ 12/252] fill");
}

}  // namespace
}  // namespace unlatch::cli
