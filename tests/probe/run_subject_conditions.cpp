// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "run_subject.hpp"

namespace unlatch::probe::testing {
namespace {

constexpr std::size_t most_waiting = 4;

/// Two producers and two consumers of a short queue.
template <class Wait>
bool hands_over(pthread_mutex_t& mutex, Wait wait) {
  std::deque<long> queue;
  pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
  std::atomic<long> sum{0};
  run_threads(threads, [&](int number) {
    const bool produces = number % 2 == 0;
    for (long i = 1; i <= rounds; ++i) {
      pthread_mutex_lock(&mutex);
      if (produces) {
        while (queue.size() == most_waiting) wait(emptied, mutex);
        queue.push_back(i);
        pthread_cond_signal(&filled);
      } else {
        while (queue.empty()) wait(filled, mutex);
        sum += queue.front();
        queue.pop_front();
        pthread_cond_signal(&emptied);
      }
      pthread_mutex_unlock(&mutex);
    }
  });
  return CHECK(queue.empty()) && CHECK(sum == rounds * (rounds + 1)) &&
         CHECK(pthread_cond_destroy(&filled) == 0) && CHECK(pthread_cond_destroy(&emptied) == 0) &&
         CHECK(pthread_mutex_destroy(&mutex) == 0);
}

void wait(pthread_cond_t& condition, pthread_mutex_t& mutex) {
  pthread_cond_wait(&condition, &mutex);
}

bool waits_with_a_normal_mutex() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  return hands_over(mutex, wait);
}

bool waits_with_a_recursive_mutex() {
  pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  return hands_over(mutex, wait);
}

bool waits_with_an_error_checking_mutex() {
  pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  return hands_over(mutex, wait);
}

bool waits_with_time_limits() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  return hands_over(mutex, [](pthread_cond_t& condition, pthread_mutex_t& with) {
    const timespec end = in_milliseconds(CLOCK_MONOTONIC, 60'000);
    pthread_cond_clockwait(&condition, &with, CLOCK_MONOTONIC, &end);
  });
}

/// Whether a thread that came back from a wait holds the mutex.
bool holds(pthread_mutex_t& mutex) {
  bool held = false;
  std::thread([&] { held = pthread_mutex_trylock(&mutex) == EBUSY; }).join();
  return held;
}

bool gives_up_in_time() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER, by_monotonic;
  pthread_cond_init(&by_monotonic, &monotonic);
  pthread_mutex_lock(&mutex);
  timespec soon = in_milliseconds(CLOCK_REALTIME, 20);
  bool kept = CHECK(pthread_cond_timedwait(&condition, &mutex, &soon) == ETIMEDOUT);
  kept &= CHECK(holds(mutex));
  soon = in_milliseconds(CLOCK_MONOTONIC, 20);
  kept &= CHECK(pthread_cond_timedwait(&by_monotonic, &mutex, &soon) == ETIMEDOUT);
  soon = in_milliseconds(CLOCK_MONOTONIC, 20);
  kept &= CHECK(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
  soon.tv_nsec = -1;
  kept &= CHECK(pthread_cond_timedwait(&condition, &mutex, &soon) == EINVAL);
  kept &= CHECK(holds(mutex));
  pthread_mutex_unlock(&mutex);
  return kept && CHECK(!holds(mutex));
}

/// All threads meet, again and again.
bool wakes_all() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t complete = PTHREAD_COND_INITIALIZER;
  int here = 0;
  long meeting = 0;
  std::atomic<bool> late{false};
  const long meetings = rounds / 20 + 2;
  run_threads(threads, [&](int) {
    for (long i = 0; i < meetings; ++i) {
      pthread_mutex_lock(&mutex);
      if (meeting != i) late = true;
      if (++here == threads) {
        here = 0;
        ++meeting;
        pthread_cond_broadcast(&complete);
      } else {
        while (meeting == i) pthread_cond_wait(&complete, &mutex);
      }
      pthread_mutex_unlock(&mutex);
    }
  });
  return CHECK(!late) && CHECK(meeting == meetings);
}

/// The mutex is the cancelled thread's while it cleans up.
bool is_cancelled_in_a_wait() {
  struct state {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    bool waits = false;
    account money;
  };
  bool kept = true;
  for (int i = 0; i < 20; ++i) {
    state all;
    pthread_t waiter;
    pthread_create(
        &waiter, nullptr,
        [](void* argument) -> void* {
          auto* const own = static_cast<state*>(argument);
          pthread_mutex_lock(&own->mutex);
          own->waits = true;
          pthread_cleanup_push(
              [](void* last) {
                static_cast<state*>(last)->money.change();
                pthread_mutex_unlock(&static_cast<state*>(last)->mutex);
              },
              own);
          for (;;) pthread_cond_wait(&own->condition, &own->mutex);
          pthread_cleanup_pop(0);
          return nullptr;
        },
        &all);
    const auto change = [&all] {
      pthread_mutex_lock(&all.mutex);
      all.money.change();
      const bool waits = all.waits;
      pthread_mutex_unlock(&all.mutex);
      return waits;
    };
    long changes = 1;
    while (!change()) ++changes;
    pthread_cancel(waiter);
    void* result = nullptr;
    change();
    pthread_join(waiter, &result);
    change();
    kept &= CHECK(result == PTHREAD_CANCELED) && CHECK(all.money.has(changes + 3));
  }
  return kept;
}

bool is_under_the_standard_condition() {
  std::mutex mutex;
  std::condition_variable changed;
  long turn = 0;
  const long turns = rounds;
  run_threads(2, [&](int number) {
    for (long i = number; i < turns; i += 2) {
      std::unique_lock lock(mutex);
      if (i % 3 == 0)
        changed.wait_for(lock, std::chrono::minutes(1), [&] { return turn == i; });
      else
        changed.wait(lock, [&] { return turn == i; });
      ++turn;
      changed.notify_all();
    }
  });
  return CHECK(turn == turns);
}

}  // namespace

run_cases condition_cases() {
  return {{"waits_with_a_normal_mutex", waits_with_a_normal_mutex},
          {"waits_with_a_recursive_mutex", waits_with_a_recursive_mutex},
          {"waits_with_an_error_checking_mutex", waits_with_an_error_checking_mutex},
          {"waits_with_time_limits", waits_with_time_limits},
          {"gives_up_in_time", gives_up_in_time},
          {"wakes_all", wakes_all},
          {"is_cancelled_in_a_wait", is_cancelled_in_a_wait},
          {"is_under_the_standard_condition", is_under_the_standard_condition}};
}

}  // namespace unlatch::probe::testing
