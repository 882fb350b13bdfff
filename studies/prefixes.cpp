// SPDX-License-Identifier: Apache-2.0
//
// XACQUIRE and XRELEASE, the prefixes of hardware lock elision: what a pair costs (Johnson 2014,
// figure 3-1), how locks nest (Schrimpf 2014, section 3.2.4), and what the prefixes gain where
// threads share a few locks (section 2.4).
#include <cstdint>
#include <memory>
#include <vector>

#include "studies/attempts.hpp"
#include "studies/prefix_lock.hpp"
#include "studies/random.hpp"
#include "studies/studies.hpp"
#include "studies/window.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {
namespace {

measurement measure_pairs(const cell& one) {
  prefix_lock lock;
  const auto repeats = one.params.at("repeats");
  return measure_attempts([&](measurement& measured, attempt_counts&) {
    const auto time = [&](auto&& step) {
      const auto begin = timestamp();
      for (std::uint64_t i = 0; i < repeats; ++i) {
        step();
        asm volatile("");
      }
      return static_cast<double>(timestamp() - begin);
    };
    const double with = time([&] {
      lock.lock();
      lock.unlock();
    });
    const double without = time([] {});
    measured.ops = repeats;
    add_figure(measured, "hle_begin_commit", (with - without) / static_cast<double>(repeats),
               "cycles");
  });
}

measurement measure_shared_locks(const cell& one, const std::stop_token& stop, std::size_t count) {
  struct alignas(cache_line) slot {
    prefix_lock lock;
    alignas(cache_line) volatile std::uint64_t value = 0;
  };
  const auto slots = std::make_unique<slot[]>(count);
  window during(std::chrono::milliseconds(one.params.at("window_ms")));
  std::vector<std::uint64_t> increments(one.threads);
  auto measured = during.run(one.threads, stop, [&](unsigned thread) {
    random_numbers random(one.seed, thread);
    std::uint64_t done = 0;
    const auto counted = count_operations(during, [&] {
      slot& chosen = slots[random.below(count)];
      chosen.lock.lock();
      chosen.value = chosen.value + 1;
      chosen.lock.unlock();
      ++done;
    });
    increments[thread] = done;
    return counted;
  });
  std::uint64_t wanted = 0;
  for (const auto done : increments) wanted += done;
  for (std::size_t i = 0; i < count; ++i) wanted -= slots[i].value;
  if (wanted != 0) {
    throw study_error("study prefixes: increments were lost, please report this");
  }
  return measured;
}

}  // namespace

study prefixes_study() {
  study what;
  what.name = "prefixes";
  what.description = "XACQUIRE and XRELEASE, the prefixes that elide a lock";
  what.cases = {{"pair", "lock and unlock by one thread"},
                {"locks-1", "one lock"},
                {"locks-10", "10 locks, one at random"},
                {"locks-100", "100 locks, one at random"}};
  what.modes = {{"prefixes", "a spin lock with the prefixes", {}, machine_need::prefixes}};
  what.parameters = {{"repeats", "pairs that are timed", 10'000, 10'000, 1},
                     {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  what.threads = {1, 2, 4};
  what.measure = [](const cell& one, const std::stop_token& stop) {
    if (one.case_name == "pair") return measure_pairs(one);
    if (one.case_name == "locks-1") return measure_shared_locks(one, stop, 1);
    return measure_shared_locks(one, stop, one.case_name == "locks-10" ? 10 : 100);
  };
  return what;
}

}  // namespace unlatch::studies
