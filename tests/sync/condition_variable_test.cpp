// SPDX-License-Identifier: Apache-2.0
#include "unlatch/condition_variable.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "support/threads.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/shared_mutex.hpp"

namespace unlatch::testing {
namespace {

using namespace std::chrono_literals;

template <class Lock>
class ConditionVariable : public ::testing::Test {
 protected:
  Lock lock;
  condition_variable changed;
};
using locks = ::testing::Types<unlatch::mutex, elided<unlatch::mutex>, std::mutex>;
TYPED_TEST_SUITE(ConditionVariable, locks);

TYPED_TEST(ConditionVariable, notify_one_lets_one_waiter_through_at_least) {
  constexpr int waiters = 3;
  int tokens = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < waiters; ++i)
    threads.emplace_back([&] {
      const std::scoped_lock guard(this->lock);
      this->changed.wait(this->lock, [&] { return tokens > 0; });
      --tokens;
    });
  for (int i = 0; i < waiters; ++i) {
    const std::scoped_lock guard(this->lock);
    ++tokens;
    this->changed.notify_one(this->lock);
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(tokens, 0);
}

TYPED_TEST(ConditionVariable, notify_all_lets_all_sleepers_through) {
  bool ready = false;
  const auto wait = [&] {
    const std::scoped_lock guard(this->lock);
    this->changed.wait(this->lock, [&] { return ready; });
  };
  blocking_thread a(wait), b(wait), c(wait);
  for (blocking_thread* t : {&a, &b, &c}) t->wait_until_asleep();
  const std::scoped_lock guard(this->lock);
  ready = true;
  this->changed.notify_all(this->lock);
}

TYPED_TEST(ConditionVariable, notify_without_the_lock_wakes_a_sleeper) {
  bool ready = false;
  blocking_thread sleeper([&] {
    const std::scoped_lock guard(this->lock);
    this->changed.wait(this->lock, [&] { return ready; });
  });
  sleeper.wait_until_asleep();
  {
    const std::scoped_lock guard(this->lock);
    ready = true;
  }
  this->changed.notify_one();
}

TYPED_TEST(ConditionVariable, waits_until_the_time_is_over) {
  const std::scoped_lock guard(this->lock);
  EXPECT_EQ(this->changed.wait_for(this->lock, 1ms), std::cv_status::timeout);
  EXPECT_EQ(this->changed.wait_until(this->lock, std::chrono::system_clock::now() + 1ms),
            std::cv_status::timeout);
  EXPECT_EQ(this->changed.wait_until(this->lock, std::chrono::steady_clock::time_point::min()),
            std::cv_status::timeout);
  EXPECT_FALSE(this->changed.wait_for(this->lock, 1ms, [] { return false; }));
  EXPECT_TRUE(this->changed.wait_for(this->lock, 1ms, [] { return true; }));
}

TYPED_TEST(ConditionVariable, waits_for_practically_ever_without_overflow) {
  bool ready = false;
  blocking_thread sleeper([&] {
    const std::scoped_lock guard(this->lock);
    EXPECT_TRUE(
        this->changed.wait_for(this->lock, std::chrono::hours::max(), [&] { return ready; }));
  });
  sleeper.wait_until_asleep();
  const std::scoped_lock guard(this->lock);
  ready = true;
  this->changed.notify_all(this->lock);
}

TYPED_TEST(ConditionVariable, leaves_the_section_while_it_waits_and_is_in_it_afterwards) {
  bool ready = false, seen_free = false;
  blocking_thread sleeper([&] {
    const std::scoped_lock guard(this->lock);
    this->changed.wait(this->lock, [&] { return ready; });
    seen_free = true;
  });
  sleeper.wait_until_asleep();
  {
    const std::scoped_lock guard(this->lock);
    ready = true;
    this->changed.notify_one(this->lock);
    EXPECT_FALSE(seen_free) << "the waiter runs although we hold its lock";
  }
  sleeper.join();
  EXPECT_TRUE(seen_free);
}

TEST(ConditionVariableWithStdGuards, takes_a_unique_lock_as_its_lock) {
  elided<unlatch::mutex> lock;
  condition_variable changed;
  std::unique_lock guard(lock);
  EXPECT_EQ(changed.wait_for(guard, 1ms), std::cv_status::timeout);
  EXPECT_TRUE(guard.owns_lock());
}

TEST(ConditionVariableInSharedSections, waits_for_a_writer) {
  unlatch::shared_mutex lock;
  struct as_reader {
    unlatch::shared_mutex& of;
    void lock() { of.lock_shared(); }
    void unlock() { of.unlock_shared(); }
  } reading{lock};
  condition_variable changed;
  bool ready = false;
  blocking_thread reader([&] {
    reading.lock();
    changed.wait(reading, [&] { return ready; });
    reading.unlock();
  });
  reader.wait_until_asleep();
  const std::scoped_lock guard(lock);
  ready = true;
  changed.notify_one(lock);
}

/// Keeps what is put off until it is told that the section has ended.
struct recording_lock {
  std::vector<std::function<void()>> put_off;
  template <class F>
  void on_unlock(F f) {
    put_off.emplace_back(f);
  }
};

TEST(DeferredNotify, wakes_sleepers_only_once_the_section_has_ended) {
  unlatch::mutex lock;
  condition_variable changed;
  bool woken = false;
  blocking_thread sleeper([&] {
    const std::scoped_lock guard(lock);
    changed.wait(lock);
    woken = true;
  });
  sleeper.wait_until_asleep();
  recording_lock section;
  changed.notify_one(section);
  ASSERT_EQ(section.put_off.size(), 1u) << "there is a sleeper, so there is somebody to wake";
  sleeper.wait_until_asleep();
  {
    const std::scoped_lock guard(lock);
    EXPECT_FALSE(woken);
  }
  section.put_off.front()();
  sleeper.join();
  EXPECT_TRUE(woken);
}

TEST(DeferredNotify, asks_for_nothing_where_nobody_sleeps) {
  condition_variable changed;
  recording_lock section;
  changed.notify_all(section);
  EXPECT_TRUE(section.put_off.empty());
}

}  // namespace
}  // namespace unlatch::testing
