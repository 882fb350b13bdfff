// SPDX-License-Identifier: Apache-2.0
//
// Threads that run one window of measurement after the other.
//
// The threads live as long as the program, so that a window pays for no thread's creation and what
// a lock keeps per thread (counters, what a policy has learned) is as warm as in a program that has
// run for a while. Between windows they sleep.
//
// A window: all its threads start, run uncounted for a tenth of its length, then count what they
// finish until it closes.
//
// Thread safety: work touches only its `window_state`; `workers` belongs to one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "unlatch/platform.hpp"

namespace unlatch::bench {

/// What the threads of a window look at between operations: a line that changes twice a window.
class window_state {
 public:
  [[nodiscard]] bool warming() const noexcept { return is(phase::warm); }
  [[nodiscard]] bool counting() const noexcept { return is(phase::open); }

 private:
  friend class workers;
  enum class phase : int { warm, open, closed };
  bool is(phase which) const noexcept { return phase_.load(std::memory_order_relaxed) == which; }

  alignas(cache_line) std::atomic<phase> phase_{phase::warm};
};

/// Runs on one thread of a window and returns the operations it counted; see repeat().
using work = std::function<std::uint64_t(unsigned thread, const window_state& window)>;

/// What one window measured.
struct window {
  std::uint64_t operations = 0;
  double seconds = 0;
  std::uint64_t context_switches = 0;  ///< of the window's threads
  double queued = 0;  ///< largest share of the window that one thread waited for a CPU

  [[nodiscard]] double rate() const { return static_cast<double>(operations) / seconds; }
};

class workers {
 public:
  explicit workers(unsigned most);
  ~workers();
  workers(const workers&) = delete;
  workers& operator=(const workers&) = delete;

  /// Runs `what` on the first `threads` (at most `most`) threads for one window of `length`.
  /// `what` must not throw.
  window measure(unsigned threads, std::chrono::microseconds length, const work& what);

 private:
  struct alignas(cache_line) tally {
    std::uint64_t operations = 0;
    std::uint64_t context_switches = 0;
    std::uint64_t queued_ns = 0;
  };

  void serve(unsigned thread);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t round_ = 0;  ///< of the window that runs or ran last
  unsigned threads_ = 0;     ///< that take part in it
  unsigned running_ = 0;     ///< of these, not finished yet
  bool ending_ = false;
  const work* what_ = nullptr;
  window_state* state_ = nullptr;
  alignas(cache_line) std::atomic<unsigned> ready_{0};
  std::vector<tally> tallies_;
  std::vector<std::thread> running_threads_;
};

/// Calls `operation` until the window closes; returns how often it was counted.
template <class Operation>
std::uint64_t repeat(const window_state& window, Operation operation) {
  while (window.warming()) operation();
  std::uint64_t count = 0;
  for (; window.counting(); ++count) operation();
  return count;
}

/// As repeat(), for operations of a few nanoseconds: `batch(n)` does n of them.
template <class Batch>
std::uint64_t repeat_batches(const window_state& window, Batch batch) {
  constexpr std::uint64_t size = 1000;
  return size * repeat(window, [&] { batch(size); });
}

}  // namespace unlatch::bench
