// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "os_testing.hpp"

namespace {

using os_testing::simulate;

TEST(SimulatedThreads, start_and_join) {
  int sum = 0;
  simulate([&] {
    std::thread one([&] { sum += 1; });
    one.join();
    std::thread two([&] { sum += 2; });
    two.join();
  });
  EXPECT_EQ(sum, 3);
}

TEST(SimulatedThreads, run_at_the_same_virtual_time) {
  const auto work = [] {
    for (int i = 0; i < 100000; ++i) asm volatile("" ::: "memory");
  };
  const auto alone = simulate([&] { work(); });
  const auto four = simulate([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(work);
    work();
    for (auto& each : threads) each.join();
  });
  EXPECT_LT(four.cycles, alone.cycles * 2);
}

TEST(SimulatedThreads, more_than_cpus_take_turns) {
  std::atomic<int> ended = 0;
  simulate([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 20; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 1000; ++k) std::this_thread::yield();
        ++ended;
      });
    }
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(ended, 20);
}

TEST(SimulatedThreads, a_spinning_thread_does_not_keep_others_from_its_cpu) {
  std::atomic<int> waiting = 0;
  simulate([&] {
    std::atomic<bool> go = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        ++waiting;
        while (!go) {
        }
      });
    }
    while (waiting < 4) {
    }
    go = true;
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(waiting, 4);
}

TEST(SimulatedThreads, have_their_own_names) {
  std::set<std::thread::id> names;
  bool same = false;
  simulate([&] {
    names.insert(std::this_thread::get_id());
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([] {});
    for (auto& each : threads) names.insert(each.get_id());
    std::thread asks([&] { same = pthread_equal(pthread_self(), pthread_self()) != 0; });
    asks.join();
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(names.size(), 4u);
  EXPECT_TRUE(same);
}

TEST(SimulatedThreads, many_can_come_and_go) {
  int ended = 0;
  simulate([&] {
    for (int i = 0; i < 3000; ++i) std::thread([&] { ++ended; }).join();
  });
  EXPECT_EQ(ended, 3000);
}

TEST(SimulatedThreads, detached_threads_end_by_themselves) {
  int ended = 0;
  simulate([&] {
    for (int i = 0; i < 500; ++i) {
      std::thread([&] { ++ended; }).detach();
      const int before = i + 1;
      while (static_cast<volatile int&>(ended) < before) std::this_thread::yield();
    }
  });
  EXPECT_EQ(ended, 500);
}

struct counted {
  int value = 7;
  static inline std::atomic<int> alive = 0;
  counted() { ++alive; }
  ~counted() { --alive; }
};
thread_local counted mine;

TEST(SimulatedThreads, thread_local_objects_are_new_and_destroyed) {
  std::atomic<bool> fresh = true;
  simulate([&] {
    for (int round = 0; round < 3; ++round) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          if (mine.value != 7) fresh = false;
          mine.value = 8;
        });
      }
      for (auto& each : threads) each.join();
    }
    if (mine.value != 7) fresh = false;
  });
  EXPECT_TRUE(fresh);
  EXPECT_EQ(counted::alive, 0);
}

TEST(SimulatedThreads, thread_specific_data_is_destroyed) {
  static std::atomic<int> destroyed;
  destroyed = 0;
  std::atomic<bool> empty = true;
  simulate([&] {
    pthread_key_t key;
    pthread_key_create(&key, [](void* p) { destroyed += *static_cast<int*>(p); });
    static int values[3] = {1, 10, 100};
    std::vector<std::thread> threads;
    for (int& each : values) {
      threads.emplace_back([&, key] {
        if (pthread_getspecific(key) != nullptr) empty = false;
        pthread_setspecific(key, &each);
      });
    }
    for (auto& each : threads) each.join();
    pthread_key_delete(key);
  });
  EXPECT_TRUE(empty);
  EXPECT_EQ(destroyed, 111);
}

TEST(SimulatedThreads, exceptions_stay_in_their_thread) {
  std::atomic<int> caught = 0;
  simulate([&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        try {
          std::this_thread::yield();
          throw i;
        } catch (int which) {
          std::this_thread::yield();
          caught += which == i;
        }
      });
    }
    for (auto& each : threads) each.join();
  });
  EXPECT_EQ(caught, 4);
}

TEST(SimulatedThreads, end_by_pthread_exit) {
  void* result = nullptr;
  bool destroyed = false;
  simulate([&] {
    pthread_t name;
    pthread_create(
        &name, nullptr,
        [](void* argument) -> void* {
          static thread_local std::unique_ptr<bool, void (*)(bool*)> mark(
              static_cast<bool*>(argument), [](bool* flag) { *flag = true; });
          pthread_exit(argument);
        },
        &destroyed);
    pthread_join(name, &result);
  });
  EXPECT_EQ(result, &destroyed);
  EXPECT_TRUE(destroyed);
}

TEST(SimulatedThreadsDeathTest, an_exception_that_leaves_a_thread_terminates) {
  EXPECT_DEATH(simulate([] { std::thread([] { throw 1; }).join(); }), "terminating");
}

TEST(SimulatedThreadsDeathTest, any_thread_may_end_the_process) {
  EXPECT_EXIT(simulate([] { std::thread([] { std::exit(3); }).join(); }),
              testing::ExitedWithCode(3), "");
  EXPECT_EXIT(simulate([] { std::exit(4); }), testing::ExitedWithCode(4), "");
}

TEST(SimulatedThreads, the_hosts_threads_still_work_between_runs) {
  int ran = 0;
  simulate([] {});
  std::thread([&] { ++ran; }).join();
  simulate([] {});
  EXPECT_EQ(ran, 1);
}

}  // namespace
