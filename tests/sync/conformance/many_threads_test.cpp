// SPDX-License-Identifier: Apache-2.0
//
// What a lock must do between threads, whatever lock, policy and backend it is made of.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <latch>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "any_lock.hpp"
#include "support/threads.hpp"
#include "unlatch/condition_variable.hpp"

namespace unlatch::testing {
namespace {

class LockInManyThreads : public ::testing::TestWithParam<combination> {
 protected:
  LockInManyThreads() { GetParam().prepare(); }

  std::unique_ptr<any_lock> lock = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(Every, LockInManyThreads, ::testing::ValuesIn(isolating_combinations()),
                         ::testing::PrintToStringParamName());

/// Counts with plain accesses in `threads` threads; true if none of the increments got lost.
bool counts_right(any_lock& lock, int threads, int increments) {
  long count = 0;
  run_together(threads, [&](int) {
    for (int i = 0; i < increments; ++i) {
      const std::scoped_lock guard(lock);
      ++count;
    }
  });
  return count == long{threads} * increments;
}

TEST_P(LockInManyThreads, excludes_them_with_every_policy) {
  for (const named_maker& maker : GetParam().makers)
    EXPECT_TRUE(counts_right(*maker.make(), 3, 80)) << maker.policy;
}

TEST_P(LockInManyThreads, excludes_them_under_load) { EXPECT_TRUE(counts_right(*lock, 4, 1000)); }

TEST_P(LockInManyThreads, excludes_them_when_they_only_try) {
  long count = 0;
  std::atomic<long> successes = 0;
  run_together(3, [&](int) {
    for (int i = 0; i < 2000; ++i) {
      const std::unique_lock guard(*lock, std::try_to_lock);
      if (!guard) continue;
      ++count;
      successes.fetch_add(1, std::memory_order_relaxed);
    }
  });
  EXPECT_EQ(count, successes.load());
  EXPECT_GT(count, 0);
}

TEST_P(LockInManyThreads, fails_to_try_while_another_holds_it) {
  lock->lock();
  std::thread([&] { EXPECT_FALSE(lock->try_lock()); }).join();
  lock->unlock();
  std::thread([&] {
    EXPECT_TRUE(lock->try_lock());
    lock->unlock();
  }).join();
}

TEST_P(LockInManyThreads, is_taken_together_with_others_without_deadlock) {
  std::array<std::unique_ptr<any_lock>, 3> locks;
  for (auto& l : locks) l = GetParam().make();
  std::array<long, 3> counts{};
  run_together(3, [&](int thread) {
    for (int i = 0; i < 400; ++i) {
      const int a = (thread + i) % 3, b = (a + 1 + i % 2) % 3;
      const std::scoped_lock guard(*locks[a], *locks[b]);
      ++counts[a];
      ++counts[b];
    }
  });
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 2400);
}

TEST_P(LockInManyThreads, loses_no_wake_up_between_two_that_take_turns) {
  condition_variable changed;
  int turn = 0;
  constexpr int turns = 500;
  run_together(2, [&](int me) {
    for (int i = 0; i < turns; ++i) {
      const std::scoped_lock guard(*lock);
      changed.wait(*lock, [&] { return turn % 2 == me; });
      ++turn;
      changed.notify_one(*lock);
    }
  });
  EXPECT_EQ(turn, 2 * turns);
}

TEST_P(LockInManyThreads, loses_no_wake_up_between_producers_and_consumers) {
  condition_variable not_empty, not_full;
  std::deque<int> queue;
  constexpr int items = 200;
  long sum = 0;
  run_together(4, [&](int thread) {
    for (int i = 1; i <= items; ++i) {
      const std::scoped_lock guard(*lock);
      if (thread < 2) {
        not_full.wait(*lock, [&] { return queue.size() < 4; });
        queue.push_back(i);
        not_empty.notify_one();  // the form that does not know the lock must work, too
      } else {
        not_empty.wait(*lock, [&] { return !queue.empty(); });
        sum += queue.front();
        queue.pop_front();
        not_full.notify_one(*lock);
      }
    }
  });
  EXPECT_EQ(sum, 2L * items * (items + 1) / 2);
}

// --- the shared mode
// ------------------------------------------------------------------------------

using SharedLock = LockInManyThreads;
INSTANTIATE_TEST_SUITE_P(Every, SharedLock, ::testing::ValuesIn(shared_combinations()),
                         ::testing::PrintToStringParamName());

TEST_P(SharedLock, works_with_std_shared_lock) {
  {
    const std::shared_lock guard(*lock);
    EXPECT_TRUE(guard.owns_lock());
  }
  const std::shared_lock tried(*lock, std::try_to_lock);
  EXPECT_TRUE(tried.owns_lock());
}

TEST_P(SharedLock, lets_readers_in_together) {
  std::latch both_inside(2);
  run_together(2, [&](int) {
    const std::shared_lock guard(*lock);
    both_inside.arrive_and_wait();
  });
}

TEST_P(SharedLock, keeps_writers_out_while_a_reader_is_in) {
  lock->lock_shared();
  std::thread([&] {
    EXPECT_TRUE(lock->try_lock_shared());
    lock->unlock_shared();
    EXPECT_FALSE(lock->try_lock());
  }).join();
  lock->unlock_shared();
  EXPECT_TRUE(lock->try_lock());
  lock->unlock();
}

TEST_P(SharedLock, keeps_readers_out_while_a_writer_is_in) {
  lock->lock();
  std::thread([&] { EXPECT_FALSE(lock->try_lock_shared()); }).join();
  lock->unlock();
}

TEST_P(SharedLock, shows_readers_no_half_done_write_with_every_policy) {
  for (const named_maker& maker : GetParam().makers) {
    SCOPED_TRACE(maker.policy);
    const auto lock = maker.make();
    long a = 0, b = 0;
    run_together(3, [&](int thread) {
      for (int i = 0; i < 80; ++i) {
        if ((i + thread) % 4 == 0) {
          const std::scoped_lock guard(*lock);
          ++a;
          ++b;
        } else {
          const std::shared_lock guard(*lock);
          EXPECT_EQ(a, b);
        }
      }
    });
    EXPECT_EQ(a, 60);
  }
}

}  // namespace
}  // namespace unlatch::testing
