// SPDX-License-Identifier: Apache-2.0
//
// What a lock must do for one thread, whatever lock, policy and backend it is made of.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "any_lock.hpp"

namespace unlatch::testing {
namespace {

class LockInOneThread : public ::testing::TestWithParam<combination> {
 protected:
  LockInOneThread() { GetParam().prepare(); }
  ~LockInOneThread() override { commit_open(); }

  std::vector<std::unique_ptr<any_lock>> make(unsigned n) {
    std::vector<std::unique_ptr<any_lock>> locks;
    while (locks.size() < n) locks.push_back(GetParam().make());
    return locks;
  }

  std::unique_ptr<any_lock> lock = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(Every, LockInOneThread, ::testing::ValuesIn(every_combination()),
                         ::testing::PrintToStringParamName());

TEST_P(LockInOneThread, can_be_locked_tried_and_unlocked_with_every_policy) {
  for (const named_maker& maker : GetParam().makers) {
    SCOPED_TRACE(maker.policy);
    const auto lock = maker.make();
    for (int i = 0; i < 100; ++i) {
      lock->lock();
      lock->unlock();
      ASSERT_TRUE(lock->try_lock());
      lock->unlock();
    }
    commit_open();
    EXPECT_TRUE(lock->is_free());
  }
}

TEST_P(LockInOneThread, works_with_the_standard_guards) {
  { const std::lock_guard guard(*lock); }
  std::unique_lock one(*lock);
  EXPECT_TRUE(one.owns_lock());
  one.unlock();
  EXPECT_TRUE(one.try_lock());
  std::unique_lock other(std::move(one));
  other.unlock();
  const std::unique_lock deferred(*lock, std::defer_lock);
  EXPECT_FALSE(deferred.owns_lock());
  EXPECT_TRUE(lock->is_free());
}

TEST_P(LockInOneThread, nests_and_may_be_released_in_any_order) {
  const auto locks = make(3);
  for (const auto& order : {std::array{2, 1, 0}, std::array{0, 1, 2}, std::array{1, 2, 0}}) {
    for (const auto& l : locks) l->lock();
    for (const int i : order) locks[i]->unlock();
    for (const auto& l : locks) EXPECT_TRUE(l->is_free());
  }
}

TEST_P(LockInOneThread, nests_as_deep_as_a_transaction_can_hold_with_every_policy) {
  for (const named_maker& maker : GetParam().makers) {
    SCOPED_TRACE(maker.policy);
    std::vector<std::unique_ptr<any_lock>> locks;
    while (locks.size() < detail::section_context::max_open) locks.push_back(maker.make());
    for (const auto& l : locks) l->lock();
    for (const auto& l : locks) l->unlock();
    for (const auto& l : locks) EXPECT_TRUE(l->is_free());
  }
}

// A scripted transaction cannot go back from its middle, so this is not for all of them;
// elided_test.cpp looks at the calls.
using DeeplyNestedLock = LockInOneThread;
INSTANTIATE_TEST_SUITE_P(Every, DeeplyNestedLock, ::testing::ValuesIn(isolating_combinations()),
                         ::testing::PrintToStringParamName());

TEST_P(DeeplyNestedLock, nests_deeper_than_a_transaction_can_hold) {
  const auto locks = make(detail::section_context::max_open + 3);
  for (const auto& l : locks) l->lock();
  for (const auto& l : locks) l->unlock();
  for (const auto& l : locks) EXPECT_TRUE(l->is_free());
}

TEST_P(LockInOneThread, is_released_by_an_exception_that_leaves_the_section_with_every_policy) {
  for (const named_maker& maker : GetParam().makers) {
    SCOPED_TRACE(maker.policy);
    const auto lock = maker.make();
    EXPECT_THROW(
        {
          const std::scoped_lock guard(*lock);
          throw std::runtime_error("out");
        },
        std::runtime_error);
    EXPECT_TRUE(lock->is_free());
    EXPECT_TRUE(lock->try_lock());
    lock->unlock();
  }
}

TEST_P(LockInOneThread, runs_what_was_put_off_in_order_once_it_is_free_with_every_policy) {
  for (const named_maker& maker : GetParam().makers) {
    SCOPED_TRACE(maker.policy);
    const auto lock = maker.make();
    std::string done;
    {
      const std::scoped_lock guard(*lock);
      lock->on_unlock([&] { done += lock->is_free() ? '1' : '!'; });
      lock->on_unlock([&] { done += '2'; });
      EXPECT_EQ(done, "");
    }
    EXPECT_EQ(done, "12");
  }
}

#if UNLATCH_CHECKED
using MisusedLock = LockInOneThread;
INSTANTIATE_TEST_SUITE_P(Every, MisusedLock, ::testing::ValuesIn(every_combination()),
                         ::testing::PrintToStringParamName());

TEST_P(MisusedLock, says_unlock_without_lock) {
  EXPECT_DEATH(lock->unlock(), "unlock without lock");
}

TEST_P(MisusedLock, says_unlock_without_lock_to_a_thread_that_does_not_hold_it) {
  EXPECT_DEATH(
      {
        std::thread([&] { lock->lock(); }).join();
        lock->unlock();
      },
      "unlock without lock");
}

TEST_P(MisusedLock, says_recursive_lock) {
  EXPECT_DEATH(
      {
        lock->lock();
        lock->lock();
      },
      "recursive lock");
}

using MisusedSharedLock = LockInOneThread;
INSTANTIATE_TEST_SUITE_P(Every, MisusedSharedLock, ::testing::ValuesIn(shared_combinations()),
                         ::testing::PrintToStringParamName());

TEST_P(MisusedSharedLock, says_unlock_shared_without_lock) {
  EXPECT_DEATH(lock->unlock_shared(), "unlock_shared without lock");
}
#endif

}  // namespace
}  // namespace unlatch::testing
