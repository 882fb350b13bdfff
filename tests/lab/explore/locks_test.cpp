// SPDX-License-Identifier: Apache-2.0
//
// Every lock, elided with every policy, under random schedules with injected aborts: sections
// exclude each other, and nobody waits for ever.
#include <gtest/gtest.h>

#include "src/lab/explore/explore.hpp"
#include "two_threads.hpp"
#include "unlatch/adaptive.hpp"
#include "unlatch/coarsening.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/mcs_mutex.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/policy.hpp"
#include "unlatch/rw_semaphore.hpp"
#include "unlatch/shared_mutex.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/sr_latch.hpp"
#include "unlatch/ticket_mutex.hpp"

namespace unlatch::lab {
namespace {

constexpr int sections = 2;

/// Three threads that add to a sum in sections of a `Lock`.
template <class Lock>
void add_in_sections() {
  Lock lock;
  int sum = 0;
  const auto add = [&] {
    for (int i = 0; i < sections; ++i) {
      lock.lock();
      ++sum;
      lock.unlock();
    }
  };
  std::thread third(add);
  at_once(add, add);
  third.join();
  require(sum == 3 * sections, "sections ran into each other");
}

template <class Lock>
class ExploredLock : public ::testing::Test {};
using locks = ::testing::Types<spin_mutex, mutex, ticket_mutex, mcs_mutex, shared_mutex, sr_latch,
                               rw_semaphore>;
TYPED_TEST_SUITE(ExploredLock, locks);

TYPED_TEST(ExploredLock, excludes_sections_from_each_other) {
  const auto found = explore({.schedules = 150}, add_in_sections<TypeParam>);
  EXPECT_TRUE(found.passed) << found;
}

TYPED_TEST(ExploredLock, excludes_sections_when_threads_have_priorities) {
  const auto found =
      explore({.how = search::priorities, .schedules = 100}, add_in_sections<TypeParam>);
  EXPECT_TRUE(found.passed) << found;
}

TYPED_TEST(ExploredLock, excludes_elided_sections_from_each_other) {
  const auto found =
      explore({.schedules = 150, .abort_share = 0.1}, add_in_sections<elided<TypeParam>>);
  EXPECT_TRUE(found.passed) << found;
}

template <class Policy>
class ExploredPolicy : public ::testing::Test {};
using policies = ::testing::Types<policy::hle, policy::fixed<2>, policy::glibc, policy::tbb,
                                  policy::mariadb, policy::ck, policy::cervini, policy::xsync,
                                  policy::niessing, policy::johnson, policy::adaptive>;
TYPED_TEST_SUITE(ExploredPolicy, policies);

TYPED_TEST(ExploredPolicy, keeps_sections_apart_when_transactions_abort) {
  const auto found =
      explore({.schedules = 150, .abort_share = 0.2}, add_in_sections<elided<mutex, TypeParam>>);
  EXPECT_TRUE(found.passed) << found;
}

TEST(ExploredSharedLock, readers_see_whole_changes) {
  const auto found = explore({.schedules = 300, .abort_share = 0.1}, [] {
    elided<shared_mutex> lock;
    int first = 0;
    int second = 0;
    at_once(
        [&] {
          lock.lock();
          ++first;
          ++second;
          lock.unlock();
        },
        [&] {
          lock.lock_shared();
          const bool same = first == second;
          lock.unlock_shared();
          require(same, "a reader saw half a change");
        });
  });
  EXPECT_TRUE(found.passed) << found;
}

}  // namespace
}  // namespace unlatch::lab
