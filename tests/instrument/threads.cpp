// SPDX-License-Identifier: Apache-2.0
//
// Several threads whose transactions conflict: what they did together must add up.

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "conformance.hpp"
#include "machine_driver.hpp"
#include "src/lab/lab.hpp"
#include "unlatch/unlatch.hpp"

namespace conformance {

namespace {

constexpr int thread_count = 4;
constexpr int turns = 200;

/// Runs body(thread, turn) on every thread.
template <class Body>
unlatch::lab::run_result on_all_threads(Body body) {
  return unlatch::lab::run(roomy_machine(), {}, [&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i) {
      threads.emplace_back([&, i] {
        for (int turn = 0; turn < turns; ++turn) body(i, turn);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

using elided_mutex = unlatch::elided<unlatch::spin_mutex>;

void sums() {
  const auto mutex = std::make_unique<elided_mutex>();
  const auto sum = std::make_unique<long>(0);
  const unlatch::lab::run_result result = on_all_threads([&](int, int) {
    const std::lock_guard guard(*mutex);
    ++*sum;
  });
  report("threads, one counter", *sum == thread_count * turns);
  report("threads, transactions committed", result.all.committed > 0);
}

void containers_of_threads() {
  const auto mutex = std::make_unique<elided_mutex>();
  const auto map = std::make_unique<std::map<std::string, int>>();
  on_all_threads([&](int thread, int turn) {
    const std::string key = "a key that is not small, number " + std::to_string(turn % 17);
    const std::lock_guard guard(*mutex);
    if (thread % 2 == 0 || turn % 3 != 0) {
      ++(*map)[key];
    } else {
      map->erase("no such key");
    }
  });
  int total = 0;
  for (const auto& [key, count] : *map) total += count;
  int expected = 0;
  for (int thread = 0; thread < thread_count; ++thread) {
    for (int turn = 0; turn < turns; ++turn) expected += thread % 2 == 0 || turn % 3 != 0 ? 1 : 0;
  }
  report("threads, a map of strings", total == expected && map->size() == 17);
}

void exceptions_of_threads() {
  const auto mutex = std::make_unique<elided_mutex>();
  const auto sum = std::make_unique<long>(0);
  std::array<long, thread_count> caught{};
  on_all_threads([&](int thread, int) {
    try {
      const std::lock_guard guard(*mutex);
      ++*sum;
      if (*sum % 3 == 0) throw std::runtime_error("out of the section " + std::to_string(*sum));
    } catch (const std::runtime_error&) {
      ++caught[static_cast<std::size_t>(thread)];
    }
  });
  long all = 0;
  for (const long each : caught) all += each;
  report("threads, exceptions out of elided sections",
         *sum == thread_count * turns && all == thread_count * turns / 3);
}

struct made_once {
  made_once() : value(new int(5)) {}
  int* value;
};

void statics_of_threads() {
  const auto sum = std::make_unique<std::atomic<long>>(0);
  const auto mutex = std::make_unique<elided_mutex>();
  on_all_threads([&](int, int) {
    const std::lock_guard guard(*mutex);
    static const made_once only;
    *sum += *only.value;
  });
  report("threads, a static local first used in a section", *sum == 5L * thread_count * turns);
}

thread_local long own_count = 0;

void thread_locals() {
  const auto mutex = std::make_unique<elided_mutex>();
  const auto sum = std::make_unique<long>(0);
  std::array<long, thread_count> counts{};
  on_all_threads([&](int thread, int) {
    const std::lock_guard guard(*mutex);
    ++own_count;
    ++*sum;
    counts[static_cast<std::size_t>(thread)] = own_count;
  });
  bool all_right = *sum == thread_count * turns;
  for (const long count : counts) all_right = all_right && count == turns;
  report("threads, thread-locals changed in sections", all_right);
}

}  // namespace

void threads() {
  sums();
  containers_of_threads();
  exceptions_of_threads();
  statics_of_threads();
  thread_locals();
}

}  // namespace conformance
