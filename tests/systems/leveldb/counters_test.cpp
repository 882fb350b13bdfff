// SPDX-License-Identifier: Apache-2.0
#include "systems/leveldb/counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace unlatch::counters {
namespace {

class Modes : public ::testing::TestWithParam<mode> {};

TEST_P(Modes, lose_no_increment) {
  if (!why_not(GetParam()).empty()) {
    EXPECT_THROW((void)run(GetParam(), 64, 8, 1, 1), std::invalid_argument);
    return;
  }
  for (const std::size_t counters : {1u, 64u, 4096u}) {
    const result measured = run(GetParam(), counters, 8, 5000, 1);
    EXPECT_EQ(measured.sum, 8u * 5000) << counters << " counters";
    EXPECT_GT(measured.seconds, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Modes,
                         ::testing::Values(mode::coarse, mode::fine, mode::coarse_elided,
                                           mode::fine_elided, mode::naive_retry),
                         [](const auto& instance) {
                           std::string name(mode_names[static_cast<std::size_t>(instance.param)]);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(NaiveRetry, says_why_it_does_not_run_without_hardware_transactions) {
  EXPECT_THAT(why_not<htm::none>(mode::naive_retry), ::testing::HasSubstr("hardware transactions"));
  EXPECT_THROW((void)(run<policy::adaptive, htm::none>(mode::naive_retry, 64, 1, 1, 1)),
               std::invalid_argument);
  for (const mode other : {mode::coarse, mode::fine, mode::coarse_elided, mode::fine_elided}) {
    EXPECT_EQ(why_not<htm::none>(other), "");
  }
}

/// Two of three transactions abort. It isolates nothing: for one thread.
struct mostly_aborting : htm::none {
  static inline unsigned begins = 0;
  static inline unsigned commits = 0;
  static constexpr bool available() noexcept { return true; }
  static htm::status begin() noexcept {
    return ++begins % 3 == 0 ? htm::status(htm::status::started_word) : htm::status();
  }
  static void commit() noexcept { ++commits; }
};

TEST(NaiveRetry, retries_every_aborted_transaction) {
  const result measured = run<policy::adaptive, mostly_aborting>(mode::naive_retry, 64, 1, 1000, 1);
  EXPECT_EQ(measured.sum, 1000u);
  EXPECT_EQ(mostly_aborting::begins, 3000u);
  EXPECT_EQ(mostly_aborting::commits, 1000u);
}

}  // namespace
}  // namespace unlatch::counters
