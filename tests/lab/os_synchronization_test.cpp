// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "os_testing.hpp"

namespace {

using os_testing::simulate;
using namespace std::chrono_literals;

template <typename Body>
void in_threads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (auto& each : threads) each.join();
}

class Mutexes : public testing::TestWithParam<int> {};

TEST_P(Mutexes, exclude_each_other) {
  long sum = 0;
  simulate([&] {
    std::mutex mutex;
    in_threads(GetParam(), [&](int) {
      for (int i = 0; i < 500; ++i) {
        const std::lock_guard guard(mutex);
        const long seen = sum;
        for (int k = 0; k < 10; ++k) asm volatile("" ::: "memory");
        sum = seen + 1;
      }
    });
  });
  EXPECT_EQ(sum, 500 * GetParam());
}

INSTANTIATE_TEST_SUITE_P(FewAndMany, Mutexes, testing::Values(1, 2, 4, 9));

TEST(Mutexes, of_a_recursive_kind_count) {
  int value = 0;
  simulate([&] {
    std::recursive_mutex mutex;
    in_threads(4, [&](int) {
      for (int i = 0; i < 50; ++i) {
        const std::lock_guard outer(mutex);
        const std::lock_guard inner(mutex);
        ++value;
      }
    });
  });
  EXPECT_EQ(value, 200);
}

TEST(Mutexes, time_out) {
  bool taken = true;
  std::chrono::steady_clock::duration waited{};
  simulate([&] {
    std::timed_mutex mutex;
    const std::lock_guard guard(mutex);
    std::thread([&] {
      const auto start = std::chrono::steady_clock::now();
      taken = mutex.try_lock_for(2ms);
      waited = std::chrono::steady_clock::now() - start;
    }).join();
  });
  EXPECT_FALSE(taken);
  EXPECT_GE(waited, 2ms);
  EXPECT_LT(waited, 3ms);
}

TEST(Mutexes, serve_the_host_before_and_after_a_run) {
  static std::mutex mutex;
  { const std::lock_guard guard(mutex); }
  simulate([] {
    in_threads(4, [](int) {
      for (int i = 0; i < 50; ++i) const std::lock_guard guard(mutex);
    });
  });
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(ConditionVariables, hand_over_every_item) {
  long sum = 0;
  simulate([&] {
    std::mutex mutex;
    std::condition_variable filled;
    std::deque<int> items;
    std::vector<std::thread> takers;
    for (int i = 0; i < 3; ++i) {
      takers.emplace_back([&] {
        for (;;) {
          std::unique_lock lock(mutex);
          filled.wait(lock, [&] { return !items.empty(); });
          const int item = items.front();
          items.pop_front();
          if (item == 0) return;
          sum += item;
        }
      });
    }
    for (int i = 100; i > 0; --i) {
      {
        const std::lock_guard guard(mutex);
        items.push_back(i);
      }
      filled.notify_one();
    }
    {
      const std::lock_guard guard(mutex);
      items.insert(items.end(), 3, 0);
    }
    filled.notify_all();
    for (auto& each : takers) each.join();
  });
  EXPECT_EQ(sum, 5050);
}

TEST(ConditionVariables, time_out_at_the_right_time) {
  std::cv_status status{};
  std::chrono::steady_clock::duration waited{};
  simulate([&] {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    const auto start = std::chrono::steady_clock::now();
    status = never.wait_for(lock, 5ms);
    waited = std::chrono::steady_clock::now() - start;
  });
  EXPECT_EQ(status, std::cv_status::timeout);
  EXPECT_GE(waited, 5ms);
  EXPECT_LT(waited, 6ms);
}

TEST(ConditionVariables, wake_before_the_timeout) {
  bool told = false;
  std::chrono::steady_clock::duration waited{};
  simulate([&] {
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    std::thread teller([&] {
      std::this_thread::sleep_for(1ms);
      const std::lock_guard guard(mutex);
      ready = true;
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    const auto start = std::chrono::steady_clock::now();
    told = changed.wait_for(lock, 1h, [&] { return ready; });
    waited = std::chrono::steady_clock::now() - start;
    lock.unlock();
    teller.join();
  });
  EXPECT_TRUE(told);
  EXPECT_LT(waited, 2ms);
}

TEST(ConditionVariables, serve_the_host_after_a_run) {
  static std::mutex mutex;
  static std::condition_variable changed;
  simulate([] {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, 1ms);
  });
  bool ready = false;
  std::thread teller([&] {
    const std::lock_guard guard(mutex);
    ready = true;
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready; });
  }
  teller.join();
  EXPECT_TRUE(ready);
}

TEST(SharedMutexes, let_readers_in_together_and_writers_alone) {
  int most_readers = 0;
  bool together = false;
  long value = 0;
  simulate([&] {
    std::shared_mutex mutex;
    std::atomic<int> readers = 0;
    std::atomic<bool> writing = false;
    in_threads(6, [&](int which) {
      for (int i = 0; i < 100; ++i) {
        if ((which + i) % 3 != 0) {
          const std::shared_lock lock(mutex);
          together = together || writing;
          const int now = ++readers;
          if (now > most_readers) most_readers = now;
          std::this_thread::yield();
          --readers;
        } else {
          const std::unique_lock lock(mutex);
          together = together || readers != 0 || writing;
          writing = true;
          std::this_thread::yield();
          ++value;
          writing = false;
        }
      }
    });
  });
  EXPECT_FALSE(together);
  EXPECT_GT(most_readers, 1);
  EXPECT_EQ(value, 200);
}

TEST(Semaphores, count) {
  int left = -1;
  int taken = 0;
  simulate([&] {
    sem_t semaphore;
    sem_init(&semaphore, 0, 2);
    std::thread taker([&] {
      for (int i = 0; i < 50; ++i, ++taken) sem_wait(&semaphore);
    });
    for (int i = 0; i < 49; ++i) sem_post(&semaphore);
    taker.join();
    sem_getvalue(&semaphore, &left);
  });
  EXPECT_EQ(taken, 50);
  EXPECT_EQ(left, 1);
}

TEST(Barriers, wait_for_everybody_in_every_round) {
  int serial = 0;
  bool early = false;
  simulate([&] {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 6);
    std::atomic<int> arrived = 0;
    in_threads(6, [&](int) {
      for (int round = 1; round <= 10; ++round) {
        ++arrived;
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
        early = early || arrived < 6 * round;
        pthread_barrier_wait(&barrier);
      }
    });
    pthread_barrier_destroy(&barrier);
  });
  EXPECT_FALSE(early);
  EXPECT_EQ(serial, 10);
}

TEST(CallOnce, calls_once_and_again_after_an_exception) {
  int tries = 0;
  std::atomic<int> caught = 0;
  simulate([&] {
    std::once_flag flag;
    in_threads(6, [&](int) {
      try {
        std::call_once(flag, [&] {
          std::this_thread::sleep_for(10us);
          if (++tries < 3) throw tries;
        });
      } catch (int) {
        ++caught;
      }
    });
  });
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(caught, 2);
}

TEST(CallOnce, works_on_the_host) {
  std::once_flag flag;
  int calls = 0;
  for (int i = 0; i < 3; ++i) std::call_once(flag, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(DeadlockDeathTest, is_found_and_explained) {
  EXPECT_DEATH(simulate([] {
                 std::mutex mutex;
                 const std::lock_guard guard(mutex);
                 std::thread([&] { mutex.lock(); }).join();
               }),
               "thread 1 waits for the mutex at 0x[0-9a-f]+, held by thread 0");
}

}  // namespace
