// SPDX-License-Identifier: Apache-2.0
//
// What sets each lock apart: who comes first, who is kept out, and what it can be asked.
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/threads.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/lock_concepts.hpp"
#include "unlatch/mcs_mutex.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/rw_semaphore.hpp"
#include "unlatch/shared_mutex.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/sr_latch.hpp"
#include "unlatch/ticket_mutex.hpp"

namespace unlatch::testing {
namespace {

static_assert(elidable<spin_mutex> && elidable<ticket_mutex> && elidable<mcs_mutex> &&
              elidable<unlatch::mutex>);
static_assert(shared_elidable<unlatch::shared_mutex> && shared_elidable<sr_latch> &&
              shared_elidable<rw_semaphore>);
static_assert(!shared_elidable<unlatch::mutex>);
static_assert(shared_elidable<elided<sr_latch>>, "an elided lock is a lock of the same kind");

/// Starts threads that each run `enter(i)`, one after the other: the next once the last one sleeps.
template <class Enter>
std::vector<std::unique_ptr<blocking_thread>> line_up(int count, Enter enter) {
  std::vector<std::unique_ptr<blocking_thread>> line;
  for (int i = 0; i < count; ++i) {
    line.push_back(std::make_unique<blocking_thread>([=] { enter(i); }));
    line.back()->wait_until_asleep();
  }
  return line;
}

template <class Lock>
class FairMutex : public ::testing::Test {};
using fair_mutexes = ::testing::Types<ticket_mutex, mcs_mutex, rw_semaphore>;
TYPED_TEST_SUITE(FairMutex, fair_mutexes);

TYPED_TEST(FairMutex, serves_sleepers_in_the_order_of_their_arrival) {
  TypeParam lock;
  std::string order;
  lock.lock();
  {
    const auto line = line_up(6, [&](int i) {
      const std::scoped_lock guard(lock);
      order += static_cast<char>('0' + i);
    });
    std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();  // newcomers do not overtake
    lock.unlock();
  }
  EXPECT_EQ(order, "012345");
}

template <class Lock>
class AnyLock : public ::testing::Test {};
using all_locks = ::testing::Types<unlatch::mutex, spin_mutex, ticket_mutex, mcs_mutex,
                                   unlatch::shared_mutex, sr_latch, rw_semaphore>;
TYPED_TEST_SUITE(AnyLock, all_locks);

TYPED_TEST(AnyLock, is_free_exactly_while_nobody_holds_it) {
  TypeParam lock;
  EXPECT_TRUE(lock.is_free());
  lock.lock();
  EXPECT_FALSE(lock.is_free());
  lock.unlock();
  EXPECT_TRUE(lock.is_free());
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.is_free());
  lock.unlock();
  EXPECT_TRUE(lock.is_free());
}

TYPED_TEST(AnyLock, puts_waiters_to_sleep_and_wakes_them) {
  TypeParam lock;
  lock.lock();
  int entered = 0;
  {
    const auto line = line_up(4, [&](int) {
      const std::scoped_lock guard(lock);
      ++entered;
    });
    EXPECT_EQ(entered, 0);
    lock.unlock();
  }
  EXPECT_EQ(entered, 4);
}

// --- mcs_mutex
// ------------------------------------------------------------------------------------

TEST(McsMutex, lets_a_thread_hold_many_and_release_them_in_any_order) {
  std::vector<mcs_mutex> locks(50);
  for (int round = 0; round < 3; ++round) {
    for (auto& l : locks) l.lock();
    for (std::size_t i = 0; i < locks.size(); ++i) locks[i * 7 % locks.size()].unlock();
    for (auto& l : locks) EXPECT_TRUE(l.is_free());
  }
}

TEST(McsMutex, may_be_used_by_the_destructors_of_a_threads_last_objects) {
  static mcs_mutex lock;
  struct user {
    ~user() { const std::scoped_lock guard(lock); }
  };
  std::thread([] {
    static thread_local user last;  // constructed before the pool, so destroyed after it
    (void)last;
    const std::scoped_lock guard(lock);
  }).join();
  EXPECT_TRUE(lock.is_free());
}

// --- locks with a shared mode
// ---------------------------------------------------------------------

template <class Lock>
class ReaderWriterLock : public ::testing::Test {
 protected:
  Lock lock;
};
using reader_writer_locks = ::testing::Types<unlatch::shared_mutex, sr_latch, rw_semaphore>;
TYPED_TEST_SUITE(ReaderWriterLock, reader_writer_locks);

TYPED_TEST(ReaderWriterLock, is_write_free_while_only_readers_hold_it) {
  EXPECT_TRUE(this->lock.is_write_free());
  this->lock.lock_shared();
  EXPECT_TRUE(this->lock.is_write_free());
  EXPECT_FALSE(this->lock.is_free());
  this->lock.unlock_shared();
  this->lock.lock();
  EXPECT_FALSE(this->lock.is_write_free());
  this->lock.unlock();
  EXPECT_TRUE(this->lock.is_write_free());
}

TYPED_TEST(ReaderWriterLock, keeps_new_readers_out_while_a_writer_waits) {
  this->lock.lock_shared();
  blocking_thread writer([&] { const std::scoped_lock guard(this->lock); });
  writer.wait_until_asleep();
  EXPECT_FALSE(this->lock.try_lock_shared());
  EXPECT_FALSE(this->lock.try_lock());
  this->lock.unlock_shared();
  writer.join();
  EXPECT_TRUE(this->lock.try_lock_shared());
  this->lock.unlock_shared();
}

TYPED_TEST(ReaderWriterLock, lets_a_writer_in_past_readers_that_never_stop) {
  std::atomic<bool> written = false;
  run_together(4, [&](int thread) {
    if (thread == 0) {
      const std::scoped_lock guard(this->lock);
      written = true;
      return;
    }
    while (!written) {
      const std::shared_lock guard(this->lock);
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(written);
}

TYPED_TEST(ReaderWriterLock, lets_readers_in_past_writers_that_never_stop) {
  std::atomic<bool> read = false;
  run_together(4, [&](int thread) {
    if (thread == 0) {
      const std::shared_lock guard(this->lock);
      read = true;
      return;
    }
    while (!read) {
      const std::scoped_lock guard(this->lock);
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(read);
}

TYPED_TEST(ReaderWriterLock, wakes_all_readers_that_sleep_behind_a_writer) {
  this->lock.lock();
  std::latch all_inside(3);
  const auto line = line_up(3, [&](int) {
    const std::shared_lock guard(this->lock);
    all_inside.arrive_and_wait();
  });
  this->lock.unlock();
}

// --- rw_semaphore
// ---------------------------------------------------------------------------------

TEST(RwSemaphore, serves_readers_and_writers_in_the_order_of_their_arrival) {
  rw_semaphore lock;
  std::mutex order_mutex;
  std::string order;
  const auto note = [&](char c) {
    const std::scoped_lock guard(order_mutex);
    order += c;
  };
  std::latch both_readers_inside(2);
  lock.lock();
  {
    const auto line = line_up(5, [&](int i) {
      if (i == 2 || i == 3) {
        const std::scoped_lock guard(lock);
        note(i == 2 ? 'w' : 'W');
      } else {
        const std::shared_lock guard(lock);
        if (i < 2) both_readers_inside.arrive_and_wait();
        note(i < 2 ? 'r' : 'R');
      }
    });
    lock.unlock();
  }
  EXPECT_EQ(order, "rrwWR");
}

TEST(RwSemaphore, downgrades_without_letting_a_writer_in_between) {
  rw_semaphore lock;
  int value = 0;
  lock.lock();
  value = 1;
  bool reader_saw = false;
  blocking_thread reader([&] {
    const std::shared_lock guard(lock);
    reader_saw = value == 1;
  });
  reader.wait_until_asleep();
  blocking_thread writer([&] {
    const std::scoped_lock guard(lock);
    value = 2;
  });
  writer.wait_until_asleep();
  lock.downgrade();
  reader.join();  // it gets in beside us
  EXPECT_TRUE(reader_saw);
  EXPECT_EQ(value, 1) << "the writer got in although we still read";
  lock.unlock_shared();
  writer.join();
  EXPECT_EQ(value, 2);
  EXPECT_TRUE(lock.is_free());
}

// --- sr_latch
// -------------------------------------------------------------------------------------

TEST(SrLatch, tells_its_mode_and_the_number_of_readers) {
  sr_latch latch;
  EXPECT_EQ(latch.mode(), latch_mode::free);
  EXPECT_EQ(latch.reader_count(), 0u);
  latch.lock_shared();
  latch.lock_shared();
  EXPECT_EQ(latch.mode(), latch_mode::shared);
  EXPECT_EQ(latch.reader_count(), 2u);
  latch.unlock_shared();
  EXPECT_EQ(latch.reader_count(), 1u);
  latch.unlock_shared();
  latch.lock();
  EXPECT_EQ(latch.mode(), latch_mode::exclusive);
  EXPECT_EQ(latch.reader_count(), 0u);
  latch.unlock();
  EXPECT_EQ(latch.mode(), latch_mode::free);
}

TEST(SrLatch, stays_shared_for_the_readers_that_a_writer_waits_for) {
  sr_latch latch;
  latch.lock_shared();
  blocking_thread writer([&] { const std::scoped_lock guard(latch); });
  writer.wait_until_asleep();
  EXPECT_EQ(latch.mode(), latch_mode::shared);
  EXPECT_EQ(latch.reader_count(), 1u);
  latch.unlock_shared();
}

TEST(SrLatch, upgrades_its_only_reader) {
  sr_latch latch;
  latch.lock_shared();
  ASSERT_TRUE(latch.try_upgrade());
  EXPECT_EQ(latch.mode(), latch_mode::exclusive);
  EXPECT_FALSE(latch.is_write_free());
  latch.unlock();
  EXPECT_TRUE(latch.is_free());
}

TEST(SrLatch, does_not_upgrade_one_of_several_readers) {
  sr_latch latch;
  latch.lock_shared();
  latch.lock_shared();
  EXPECT_FALSE(latch.try_upgrade());
  EXPECT_EQ(latch.reader_count(), 2u);
  latch.unlock_shared();
  EXPECT_TRUE(latch.try_upgrade());
  latch.unlock();
}

TEST(SrLatch, does_not_upgrade_past_a_writer_that_waits) {
  sr_latch latch;
  latch.lock_shared();
  blocking_thread writer([&] { const std::scoped_lock guard(latch); });
  writer.wait_until_asleep();
  EXPECT_FALSE(latch.try_upgrade());
  latch.unlock_shared();
}

}  // namespace
}  // namespace unlatch::testing
