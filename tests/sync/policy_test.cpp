// SPDX-License-Identifier: Apache-2.0
//
// Every decision of every policy, made through an elided lock on a scripted backend.
#include "unlatch/policy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "support/policy_driver.hpp"
#include "support/scripted_htm.hpp"
#include "unlatch/adaptive.hpp"

namespace unlatch::testing {
namespace {

using ::testing::Types;

/// adaptive without the choice that goes by time: what it learns from aborts alone.
struct adaptive_by_aborts : policy::adaptive {
  static constexpr bool measured = false;
};

struct policy_names {
  template <class P>
  static std::string GetName(int i) {
    return std::string(P::name) + "_" + std::to_string(i);
  }
};

// --- how often each policy tries, by cause -------------------------------------------------------

struct cause_case {
  std::string_view name;
  htm::status status;
};

constexpr std::array causes = {
    cause_case{"conflict", conflict},   cause_case{"conflict, retry may succeed", conflict_retry},
    cause_case{"capacity", capacity},   cause_case{"capacity, retry may succeed", capacity_retry},
    cause_case{"lock held", lock_held}, cause_case{"explicit", explicit_abort},
    cause_case{"nested", nested},       cause_case{"retry may succeed", retry_alone},
    cause_case{"interrupt", interrupt},
};

/// Transactions of a section that all abort for one of `causes`, in that order.
template <class P, unsigned... Transactions>
struct tries {
  using policy = P;
  static constexpr std::string_view name = P::name;
  static constexpr std::array<unsigned, causes.size()> expected = {Transactions...};
};

template <class T>
class PolicyThatAlwaysAborts : public ::testing::Test {};

using tries_by_cause = Types<tries<policy::hle, 1, 1, 1, 1, 1, 1, 1, 1, 1>,
                             tries<policy::fixed<0>, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
                             tries<policy::fixed<3>, 3, 3, 3, 3, 3, 3, 3, 3, 3>,
                             tries<policy::glibc, 1, 3, 1, 3, 1, 1, 1, 3, 1>,
                             tries<policy::tbb, 10, 10, 1, 10, 10, 10, 1, 10, 1>,
                             tries<policy::mariadb, 1, 1, 1, 1, 1, 1, 1, 1, 1>,
                             tries<policy::ck, 1, 5, 1, 1, 5, 1, 1, 1, 1>,
                             tries<policy::cervini, 2, 2, 1, 2, 2, 1, 1, 2, 1>,
                             tries<policy::xsync, 1, 1, 1, 1, 1, 1, 1, 1, 1>,
                             tries<policy::niessing, 10, 10, 10, 10, 10, 10, 10, 10, 10>,
                             tries<policy::johnson, 6, 6, 1, 1, 6, 6, 6, 6, 6>,
                             tries<adaptive_by_aborts, 8, 8, 1, 2, 8, 1, 1, 2, 2>>;
TYPED_TEST_SUITE(PolicyThatAlwaysAborts, tries_by_cause, policy_names);

TYPED_TEST(PolicyThatAlwaysAborts, takes_the_lock_after_the_tries_of_its_source) {
  for (std::size_t i = 0; i < causes.size(); ++i) {
    SCOPED_TRACE(causes[i].name);
    policy_driver<typename TypeParam::policy> driver;
    EXPECT_EQ(driver.aborted_section(causes[i].status), locked_after(TypeParam::expected[i]));
  }
}

TYPED_TEST(PolicyThatAlwaysAborts, is_content_with_the_first_transaction_that_commits) {
  for (std::size_t i = 0; i < causes.size(); ++i) {
    SCOPED_TRACE(causes[i].name);
    policy_driver<typename TypeParam::policy> driver;
    const unsigned most = TypeParam::expected[i];
    EXPECT_EQ(driver.section(), most >= 1 ? elided_after(1) : locked_after(0));
    if (most >= 2) {
      EXPECT_EQ(driver.section({causes[i].status}), elided_after(2));
    }
  }
}

// --- a lock that is held -------------------------------------------------------------------------

template <class P>
class PolicyThatWaitsForTheLock : public ::testing::Test {};
using waiting_policies = Types<policy::hle, policy::fixed<3>, policy::tbb, policy::xsync,
                               policy::niessing, policy::johnson, adaptive_by_aborts>;
TYPED_TEST_SUITE(PolicyThatWaitsForTheLock, waiting_policies, policy_names);

TYPED_TEST(PolicyThatWaitsForTheLock, begins_once_it_is_free) {
  policy_driver<TypeParam> driver;
  EXPECT_EQ(driver.section_with_lock_held(5), elided_after(1));
  EXPECT_EQ(scripted::calls(), "bc");
}

template <class P>
class PolicyThatWaitsForALimitedTime : public ::testing::Test {};
using waiting_for_a_time_policies = Types<policy::johnson, adaptive_by_aborts>;
TYPED_TEST_SUITE(PolicyThatWaitsForALimitedTime, waiting_for_a_time_policies, policy_names);

TYPED_TEST(PolicyThatWaitsForALimitedTime, queues_for_a_lock_that_is_held_for_10000_ticks) {
  static_assert(TypeParam::wait_ticks == 10'000);
  policy_driver<TypeParam> driver;
  EXPECT_EQ(driver.section_with_lock_held(observed_lock::for_ever), locked_after(0));
}

template <class P>
class PolicyThatDoesNotWait : public ::testing::Test {};
using not_waiting_policies = Types<policy::glibc, policy::mariadb, policy::ck, policy::cervini>;
TYPED_TEST_SUITE(PolicyThatDoesNotWait, not_waiting_policies, policy_names);

TYPED_TEST(PolicyThatDoesNotWait, begins_and_finds_the_lock_held) {
  policy_driver<TypeParam> driver;
  driver.section_with_lock_held(1);
  EXPECT_EQ(scripted::calls().substr(0, 2), "ba");
}

TEST(GlibcPolicy, takes_the_lock_when_it_was_held) {
  policy_driver<policy::glibc> driver;
  EXPECT_EQ(driver.section_with_lock_held(1), locked_after(1));
}

TEST(MariadbPolicy, takes_the_lock_when_it_was_held) {
  policy_driver<policy::mariadb> driver;
  EXPECT_EQ(driver.section_with_lock_held(1), locked_after(1));
}

TEST(CkPolicy, waits_for_a_lock_that_was_held_and_tries_again) {
  policy_driver<policy::ck> driver;
  EXPECT_EQ(driver.section_with_lock_held(20), elided_after(2));
  EXPECT_EQ(scripted::calls(), "babc");
}

TEST(CerviniPolicy, waits_for_a_lock_that_was_held_and_tries_once_more) {
  policy_driver<policy::cervini> driver;
  EXPECT_EQ(driver.section_with_lock_held(20), elided_after(2));
  EXPECT_EQ(scripted::calls(), "babc");
}

TEST(AdaptivePolicy, counts_lock_held_aborts_apart_from_the_others) {
  policy_driver<adaptive_by_aborts> driver;
  EXPECT_EQ(driver.section({lock_held, lock_held, conflict, lock_held, conflict, conflict}),
            elided_after(7));
}

// --- skipping after a fallback -------------------------------------------------------------------

TEST(GlibcPolicy, skips_three_sections_after_a_fallback_without_the_retry_bit) {
  policy_driver<policy::glibc> driver;
  driver.aborted_section(capacity);
  EXPECT_EQ(driver.skipped(), 3u);
}

TEST(GlibcPolicy, does_not_skip_after_three_attempts_that_might_have_succeeded) {
  policy_driver<policy::glibc> driver;
  driver.aborted_section(conflict_retry);
  EXPECT_EQ(driver.skipped(), 0u);
}

TEST(GlibcPolicy, keeps_the_skips_in_the_lock_so_that_other_locks_go_on) {
  policy_driver<policy::glibc> one, other;
  one.aborted_section(capacity);
  EXPECT_EQ(other.skipped(), 0u);
  EXPECT_EQ(one.skipped(), 3u);
}

TEST(CkPolicy, skips_five_sections_after_a_busy_lock) {
  policy_driver<policy::ck> driver;
  driver.aborted_section(lock_held);
  EXPECT_EQ(driver.skipped(), 5u);
}

TEST(CkPolicy, skips_three_sections_after_another_explicit_abort) {
  policy_driver<policy::ck> driver;
  driver.aborted_section(explicit_abort);
  EXPECT_EQ(driver.skipped(), 3u);
}

TEST(CkPolicy, skips_two_sections_after_conflicts) {
  policy_driver<policy::ck> driver;
  driver.aborted_section(conflict_retry);
  EXPECT_EQ(driver.skipped(), 2u);
}

TEST(CkPolicy, skips_65535_sections_after_anything_else) {
  for (const htm::status status : {conflict, capacity, capacity_retry, nested, interrupt}) {
    SCOPED_TRACE(status.word());
    policy_driver<policy::ck> driver;
    driver.aborted_section(status);
    EXPECT_EQ(driver.skipped(), 65535u);
  }
}

template <class P>
class PolicyWithoutMemory : public ::testing::Test {};
using memoryless_policies = Types<policy::hle, policy::fixed<3>, policy::tbb, policy::mariadb,
                                  policy::cervini, policy::niessing, policy::johnson>;
TYPED_TEST_SUITE(PolicyWithoutMemory, memoryless_policies, policy_names);

TYPED_TEST(PolicyWithoutMemory, tries_again_in_the_next_section) {
  static_assert(TypeParam::scope == memory_scope::none);
  for (const cause_case& cause : causes) {
    SCOPED_TRACE(cause.name);
    policy_driver<TypeParam> driver;
    driver.aborted_section(cause.status);
    EXPECT_EQ(driver.section(), elided_after(1));
  }
}

TEST(AdaptivePolicy, doubles_its_skips_with_each_section_too_big_up_to_64) {
  policy_driver<adaptive_by_aborts> driver;
  ASSERT_EQ(driver.aborted_section(capacity), locked_after(1));
  for (unsigned expected = 1; expected <= 128; expected *= 2) {
    // The first section that is not skipped falls back, too.
    EXPECT_EQ(driver.skipped({capacity}), std::min(expected, 64u));
  }
}

TEST(AdaptivePolicy, halves_its_skips_with_each_commit) {
  policy_driver<adaptive_by_aborts> driver;
  driver.aborted_section(capacity);
  for (int i = 0; i < 5; ++i) driver.skipped({capacity});
  ASSERT_EQ(driver.skipped(), 32u);  // and one commit: the next skip is 32 again
  for (int i = 0; i < 2; ++i) ASSERT_EQ(driver.section(), elided_after(1));
  driver.aborted_section(capacity);
  EXPECT_EQ(driver.skipped(), 8u);
}

TEST(AdaptivePolicy, starts_with_one_skip_again_after_enough_commits) {
  policy_driver<adaptive_by_aborts> driver;
  for (int i = 0; i < 4; ++i) {
    driver.skipped({capacity});
  }
  driver.skipped();
  for (int i = 0; i < 10; ++i) driver.section();
  driver.aborted_section(capacity);
  EXPECT_EQ(driver.skipped(), 1u);
}

// --- xsync's limit -------------------------------------------------------------------------------

TEST(XsyncPolicy, raises_its_limit_by_one_with_each_commit) {
  for (unsigned commits = 1; commits < 10; ++commits) {
    policy_driver<policy::xsync> driver;
    for (unsigned i = 0; i < commits; ++i) ASSERT_EQ(driver.section(), elided_after(1));
    // One abort is within a limit of 2 or more.
    EXPECT_EQ(driver.section({conflict}), elided_after(2));
  }
}

TEST(XsyncPolicy, drops_its_limit_to_one_at_an_abort) {
  policy_driver<policy::xsync> driver;
  for (int i = 0; i < 20; ++i) driver.section();
  EXPECT_EQ(driver.aborted_section(conflict), locked_after(2));
  EXPECT_EQ(driver.aborted_section(conflict), locked_after(1));
}

TEST(XsyncPolicy, never_raises_its_limit_above_eight) {
  policy::xsync::memory learned{};
  for (int i = 0; i < 100; ++i) policy::xsync::committed(learned, 1);
  const auto retries_at = [&](unsigned attempt) {
    policy::xsync::memory copy = learned;
    return policy::xsync::decide({conflict, attempt, false}, copy).step != next_step::fall_back;
  };
  EXPECT_TRUE(retries_at(7));
  EXPECT_FALSE(retries_at(8));
}

// --- pauses --------------------------------------------------------------------------------------

TEST(JohnsonPolicy, backs_off_linearly) {
  policy::johnson::memory nothing;
  for (unsigned attempt = 1; attempt <= 5; ++attempt)
    EXPECT_EQ(policy::johnson::decide({conflict, attempt, false}, nothing).pauses, 16 * attempt);
}

TEST(CerviniPolicy, pauses_at_random_up_to_nine_times_after_a_conflict_and_once_else) {
  policy::cervini::memory nothing;
  std::array<unsigned, 10> seen{};
  for (int i = 0; i < 10'000; ++i)
    ++seen.at(policy::cervini::decide({conflict, 1, false}, nothing).pauses);
  for (unsigned count : seen) EXPECT_GT(count, 0u);
  EXPECT_EQ(policy::cervini::decide({retry_alone, 1, false}, nothing).pauses, 1u);
  EXPECT_EQ(policy::cervini::decide({lock_held, 1, false}, nothing).pauses, 0u);
}

TEST(AdaptivePolicy, pauses_at_random_with_a_bound_that_grows) {
  for (unsigned attempt = 1; attempt <= 3; ++attempt) {
    unsigned longest = 0;
    for (int i = 0; i < 10'000; ++i) {
      policy::adaptive::memory learned{};
      longest =
          std::max(longest, policy::adaptive::decide({conflict, attempt, false}, learned).pauses);
    }
    EXPECT_EQ(longest, 8 * attempt - 1);
  }
}

}  // namespace
}  // namespace unlatch::testing
