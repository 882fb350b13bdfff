// SPDX-License-Identifier: Apache-2.0
//
// XACQUIRE and XRELEASE, the prefixes of hardware lock elision: what a pair costs (Johnson 2014,
// figure 3-1), how locks nest (Schrimpf 2014, section 3.2.4), and what the prefixes gain where
// threads share a few locks (section 2.4).
#include <cstdint>

#include "studies/attempts.hpp"
#include "studies/locked_counters.hpp"
#include "studies/prefix_lock.hpp"
#include "studies/studies.hpp"
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

/// A prefix lock as count_under_locks takes it.
class shared_prefix_lock {
 public:
  void lock(unsigned) { lock_.lock(); }
  void unlock(unsigned) { lock_.unlock(); }

 private:
  prefix_lock lock_;
};

measurement measure_shared_locks(const cell& one, const std::stop_token& stop) {
  auto counts = count_under_locks<shared_prefix_lock>(one, stop, locks_of(one.case_name), 0);
  if (counts.lost != 0) {
    throw study_error("study prefixes: increments were lost, please report this");
  }
  return counts.measured;
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
    return one.case_name == "pair" ? measure_pairs(one) : measure_shared_locks(one, stop);
  };
  return what;
}

}  // namespace unlatch::studies
