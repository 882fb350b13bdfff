// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "run_subject.hpp"

namespace unlatch::probe::testing {
namespace {

pthread_mutex_t never_initialized = PTHREAD_MUTEX_INITIALIZER;

bool excludes() {
  account money;
  run_threads(threads, [&](int) {
    for (long i = 0; i < rounds; ++i) {
      pthread_mutex_lock(&never_initialized);
      money.change();
      pthread_mutex_unlock(&never_initialized);
    }
  });
  return CHECK(money.has(threads * rounds));
}

/// What runs in a transaction and what runs under the lock.
bool excludes_slow_sections() {
  account money;
  run_threads(threads, [&](int number) {
    for (long i = 0; i < rounds; ++i) {
      pthread_mutex_lock(&never_initialized);
      if (number == 0 && i % 2 == 0)
        money.change_slowly();
      else
        money.change();
      pthread_mutex_unlock(&never_initialized);
    }
  });
  return CHECK(money.has(threads * rounds));
}

/// The thread's own mutex, in a section without a system call.
bool finds_its_own_mutex_held() {
  long busy = 0;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (long i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&mutex);
    if (pthread_mutex_trylock(&mutex) == EBUSY)
      ++busy;
    else
      pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  return CHECK(busy == rounds);
}

/// One lock inside the other, the outer one released first.
bool excludes_hand_over_hand() {
  account first, second;
  pthread_mutex_t a, b;
  pthread_mutex_init(&a, nullptr);
  pthread_mutex_init(&b, nullptr);
  run_threads(threads, [&](int) {
    for (long i = 0; i < rounds; ++i) {
      pthread_mutex_lock(&a);
      first.change();
      pthread_mutex_lock(&b);
      pthread_mutex_unlock(&a);
      second.change();
      pthread_mutex_unlock(&b);
    }
  });
  return CHECK(first.has(threads * rounds)) && CHECK(second.has(threads * rounds)) &&
         CHECK(pthread_mutex_destroy(&a) == 0) && CHECK(pthread_mutex_destroy(&b) == 0);
}

bool tries() {
  account money;
  std::atomic<long> done{0};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  run_threads(threads, [&](int) {
    for (long i = 0; i < rounds; ++i) {
      const int result = pthread_mutex_trylock(&mutex);
      if (result == EBUSY) continue;
      money.change();
      ++done;
      pthread_mutex_unlock(&mutex);
    }
  });
  bool kept = CHECK(money.has(done)) && CHECK(done > 0);
  pthread_mutex_lock(&mutex);
  kept &= CHECK(pthread_mutex_trylock(&mutex) == EBUSY);  // this thread's own
  std::thread([&] { kept &= CHECK(pthread_mutex_trylock(&mutex) == EBUSY); }).join();
  kept &= CHECK(pthread_mutex_destroy(&mutex) == EBUSY);
  pthread_mutex_unlock(&mutex);
  kept &= CHECK(pthread_mutex_trylock(&mutex) == 0);
  pthread_mutex_unlock(&mutex);
  return kept;
}

bool waits_for_a_limited_time() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  bool kept = true;
  std::thread([&] {
    const timespec soon = in_milliseconds(CLOCK_REALTIME, 20);
    kept &= CHECK(pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
    const timespec as_soon = in_milliseconds(CLOCK_MONOTONIC, 20);
    kept &= CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &as_soon) == ETIMEDOUT);
    const timespec past = {1, 0};
    kept &= CHECK(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
    const timespec never = {1, 1'000'000'000};
    kept &= CHECK(pthread_mutex_timedlock(&mutex, &never) == EINVAL);
  }).join();
  pthread_mutex_unlock(&mutex);
  const timespec later = in_milliseconds(CLOCK_REALTIME, 60'000);
  kept &= CHECK(pthread_mutex_timedlock(&mutex, &later) == 0);
  pthread_mutex_unlock(&mutex);
  account money;
  run_threads(threads, [&](int) {
    for (long i = 0; i < rounds; ++i) {
      const timespec end = in_milliseconds(CLOCK_MONOTONIC, 60'000);
      kept &= CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end) == 0);
      money.change();
      pthread_mutex_unlock(&mutex);
    }
  });
  return kept && CHECK(money.has(threads * rounds));
}

/// Not allowed for a normal mutex, and done all the same.
bool is_unlocked_by_another_thread() {
  account money;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> locked{false};
    std::thread locks([&] {
      pthread_mutex_lock(&mutex);
      money.change();
      locked = true;
    });
    std::thread unlocks([&] {
      while (!locked) std::this_thread::yield();
      money.change();
      pthread_mutex_unlock(&mutex);
    });
    pthread_mutex_lock(&mutex);
    money.change();
    pthread_mutex_unlock(&mutex);
    locks.join();
    unlocks.join();
  }
  return CHECK(money.has(60));
}

/// The last one to use an object deletes it and the mutex in it.
bool is_destroyed_by_its_last_user() {
  struct object {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int users = threads;
  };
  bool kept = true;
  for (long i = 0; i < rounds / 100 + 2; ++i) {
    auto* const shared = new object;
    run_threads(threads, [&](int) {
      pthread_mutex_lock(&shared->mutex);
      const bool last = --shared->users == 0;
      pthread_mutex_unlock(&shared->mutex);
      if (!last) return;
      kept &= CHECK(pthread_mutex_destroy(&shared->mutex) == 0);
      delete shared;
    });
  }
  return kept;
}

/// More mutexes and threads than the statistics have room for.
bool comes_in_numbers() {
  std::vector<pthread_mutex_t> mutexes(1500);
  std::vector<account> money(mutexes.size());
  for (auto& mutex : mutexes) pthread_mutex_init(&mutex, nullptr);
  run_threads(2, [&](int) {
    for (long i = 0; i < rounds / 200 + 1; ++i) {
      for (std::size_t m = 0; m < mutexes.size(); ++m) {
        pthread_mutex_lock(&mutexes[m]);
        money[m].change();
        pthread_mutex_unlock(&mutexes[m]);
      }
    }
  });
  bool kept = true;
  for (std::size_t m = 0; m < mutexes.size(); ++m) {
    kept &= money[m].has(2 * (rounds / 200 + 1)) && pthread_mutex_destroy(&mutexes[m]) == 0;
  }
  for (int i = 0; i < 300; ++i) {
    std::thread([&] {
      pthread_mutex_lock(&never_initialized);
      money[0].change();
      pthread_mutex_unlock(&never_initialized);
    }).join();
  }
  return CHECK(kept);
}

bool is_under_the_standard_library() {
  account plain, timed, read;
  std::mutex mutex;
  std::timed_mutex timed_mutex;
  std::recursive_mutex recursive;
  std::shared_mutex shared;
  std::atomic<bool> torn{false};
  run_threads(threads, [&](int number) {
    for (long i = 0; i < rounds; ++i) {
      {
        const std::scoped_lock both(mutex, recursive);
        const std::scoped_lock again(recursive);
        plain.change();
      }
      if (timed_mutex.try_lock_for(std::chrono::minutes(1))) {
        timed.change();
        timed_mutex.unlock();
      }
      if ((i + number) % 4 == 0) {
        const std::unique_lock writes(shared);
        read.change();
      } else {
        const std::shared_lock reads(shared);
        if (!read.is_balanced()) torn = true;
      }
    }
  });
  return CHECK(plain.has(threads * rounds)) && CHECK(timed.has(threads * rounds)) && CHECK(!torn);
}

}  // namespace

run_cases mutex_cases() {
  return {{"excludes", excludes},
          {"excludes_slow_sections", excludes_slow_sections},
          {"finds_its_own_mutex_held", finds_its_own_mutex_held},
          {"excludes_hand_over_hand", excludes_hand_over_hand},
          {"tries", tries},
          {"waits_for_a_limited_time", waits_for_a_limited_time},
          {"is_unlocked_by_another_thread", is_unlocked_by_another_thread},
          {"is_destroyed_by_its_last_user", is_destroyed_by_its_last_user},
          {"comes_in_numbers", comes_in_numbers},
          {"is_under_the_standard_library", is_under_the_standard_library}};
}

}  // namespace unlatch::probe::testing
