// SPDX-License-Identifier: Apache-2.0
//
// The synthetic counters benchmark: threads increment counters of an array at random, under one
// lock for all, a lock for each, either of them elided, or in bare transactions that are retried
// for ever. More counters, less contention. The sum at the end shows whether an increment was lost.
//
// Source: V. Chitters, A. Midvidy, J. Tsui, "Reducing Synchronization Overhead Using Hardware
// Transactional Memory", section 3 and figure 2: 8 threads, 1 million increments each, spin locks,
// 64 to 64k counters that lie side by side.
#pragma once

#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "unlatch/elided.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/policy.hpp"
#include "unlatch/spin_mutex.hpp"

namespace unlatch::counters {

enum class mode : std::uint8_t {
  coarse,         ///< one spin lock
  fine,           ///< a spin lock for each counter
  coarse_elided,  ///< one elided spin lock
  fine_elided,    ///< an elided spin lock for each counter
  naive_retry,    ///< a hardware transaction, retried until it commits; no lock
};
inline constexpr std::array<std::string_view, 5> mode_names = {"coarse", "fine", "coarse-elided",
                                                               "fine-elided", "naive-retry"};

/// What one run came to. No increment was lost if sum == threads * increments.
struct result {
  double seconds;  ///< from the common start to the end of the last thread
  std::uint64_t sum;
};

/// Why `wanted` cannot run with this backend; empty if it can. naive_retry has no lock to fall back
/// to, so where transactions never commit it would never end.
template <class Htm = htm::hardware>
[[nodiscard]] std::string why_not(mode wanted) {
  if (wanted != mode::naive_retry || Htm::available()) return {};
  return "naive-retry needs hardware transactions, and this machine has none that work; the other "
         "modes run without";
}

namespace detail {

using counter = std::uint64_t;

template <class Lock>
struct coarse {
  explicit coarse(std::size_t) {}
  void increment(std::vector<counter>& all, std::size_t index) {
    const std::lock_guard guard(lock);
    ++all[index];
  }
  Lock lock;
};

template <class Lock>
struct fine {
  explicit fine(std::size_t count) : locks(count) {}
  void increment(std::vector<counter>& all, std::size_t index) {
    const std::lock_guard guard(locks[index]);
    ++all[index];
  }
  std::vector<Lock> locks;
};

template <class Htm>
struct naive {
  explicit naive(std::size_t) {}
  void increment(std::vector<counter>& all, std::size_t index) {
    while (!Htm::begin().started()) cpu_relax();
    ++all[index];
    Htm::commit();
  }
};

template <class Synchronization>
result run(std::size_t counters, unsigned threads, std::uint64_t increments, std::uint64_t seed) {
  using clock = std::chrono::steady_clock;
  Synchronization synchronization(counters);
  std::vector<counter> all(counters);
  clock::time_point started;
  std::barrier start(static_cast<std::ptrdiff_t>(threads),
                     [&]() noexcept { started = clock::now(); });
  const auto work = [&](unsigned thread) {
    std::minstd_rand random(static_cast<std::uint32_t>(seed * 8191 + thread + 1));
    start.arrive_and_wait();
    for (std::uint64_t i = 0; i < increments; ++i) {
      synchronization.increment(all, random() % counters);
    }
  };
  std::vector<std::thread> running;
  for (unsigned thread = 0; thread < threads; ++thread) running.emplace_back(work, thread);
  for (std::thread& each : running) each.join();
  const double seconds = std::chrono::duration<double>(clock::now() - started).count();
  return {seconds, std::accumulate(all.begin(), all.end(), std::uint64_t{0})};
}

}  // namespace detail

/// Runs the benchmark: each of `threads` threads increments `increments` times one of `counters`
/// counters, all at least 1. The same seed chooses the same counters. Throws std::invalid_argument
/// with why_not()'s reason if the mode cannot run here. The defaults of Policy and Htm are the
/// library's.
template <class Policy = policy::adaptive, class Htm = htm::hardware>
[[nodiscard]] result run(mode wanted, std::size_t counters, unsigned threads,
                         std::uint64_t increments, std::uint64_t seed) {
  if (std::string reason = why_not<Htm>(wanted); !reason.empty()) {
    throw std::invalid_argument(reason);
  }
  using elided_lock = elided<spin_mutex, Policy, Htm>;
  switch (wanted) {
    case mode::coarse:
      return detail::run<detail::coarse<spin_mutex>>(counters, threads, increments, seed);
    case mode::fine:
      return detail::run<detail::fine<spin_mutex>>(counters, threads, increments, seed);
    case mode::coarse_elided:
      return detail::run<detail::coarse<elided_lock>>(counters, threads, increments, seed);
    case mode::fine_elided:
      return detail::run<detail::fine<elided_lock>>(counters, threads, increments, seed);
    case mode::naive_retry:
      break;
  }
  return detail::run<detail::naive<Htm>>(counters, threads, increments, seed);
}

}  // namespace unlatch::counters
