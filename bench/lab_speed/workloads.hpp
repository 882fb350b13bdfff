// SPDX-License-Identifier: Apache-2.0
//
// What the speed of the simulated machine is measured with: the same work in it and, without
// instrumentation, on this machine or under valgrind.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "studies/random.hpp"
#include "unlatch/elide.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/mutex.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/structures/hash_map.hpp"

namespace unlatch::bench {

struct wanted {
  std::string workload;  ///< "hits" or "map"
  unsigned threads;
  std::uint64_t amount;  ///< rounds of "hits", sections of "map", of each thread
};

/// Every thread adds up and changes numbers of its own, which stay in the first-level cache.
inline void run_hits(unsigned threads, std::uint64_t rounds) {
  constexpr std::size_t numbers = 256;
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([rounds] {
      std::vector<std::uint64_t> own(numbers, 1);
      std::uint64_t sum = 0;
      for (std::uint64_t round = 0; round < rounds; ++round) {
        for (std::uint64_t& number : own) {
          sum += number;
          number = sum;
          asm volatile("" : "+r"(sum));  // one at a time, not as vectors
        }
      }
    });
  }
  for (auto& each : running) each.join();
}

/// The study hash_map with 90 % look-ups: one elided lock around a map of 1000 keys.
inline void run_map(unsigned threads, std::uint64_t sections) {
  constexpr std::uint64_t range = 2000;
  alignas(cache_line) elided<mutex> lock("map");
  alignas(cache_line) basic_hash_map<std::uint64_t, std::uint64_t> map(1000);
  for (std::uint64_t key = 0; key < range; key += 2) {
    elide(lock, [&](auto& tx) { return map.insert(tx, key, key); });
  }
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      studies::random_numbers random(1, thread);
      std::uint64_t seen = 0;
      for (std::uint64_t i = 0; i < sections; ++i) {
        const auto key = random.below(range);
        const auto dice = random.below(20);
        if (dice > 1) {
          seen += elide(lock, [&](auto& tx) { return map.find(tx, key); }).value_or(0);
        } else if (dice == 1) {
          elide(lock, [&](auto& tx) { return map.insert(tx, key, key); });
        } else {
          elide(lock, [&](auto& tx) { return map.erase(tx, key); });
        }
      }
      asm volatile("" : : "r"(seen));  // the look-ups must not be optimized away
    });
  }
  for (auto& each : running) each.join();
}

/// Reads `WORKLOAD THREADS AMOUNT`; throws std::invalid_argument.
inline wanted parse(int count, char** arguments) {
  if (count < 4) throw std::invalid_argument("give WORKLOAD (hits or map), THREADS and AMOUNT");
  return {arguments[1], static_cast<unsigned>(std::stoul(arguments[2])), std::stoull(arguments[3])};
}

inline void run(const wanted& what) {
  if (what.workload == "hits") return run_hits(what.threads, what.amount);
  if (what.workload == "map") return run_map(what.threads, what.amount);
  throw std::invalid_argument("no workload '" + what.workload + "': there are hits and map");
}

}  // namespace unlatch::bench
