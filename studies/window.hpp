// SPDX-License-Identifier: Apache-2.0
//
// Counting operations in a fixed window of time: how studies that run in this process measure.
//
// All threads start together and first run uncounted for a tenth of the window, so that caches are
// warm and policies have learned. Then the window opens; every thread counts what it finishes until
// it closes. Seconds go from the opening until the last thread has stopped.
//
// Thread safety: workers touch only warming() and counting(); the rest belongs to one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "studies/study.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {

class window {
 public:
  explicit window(std::chrono::milliseconds length) : length_(length) {}

  [[nodiscard]] bool warming() const { return phase_.load(std::memory_order_relaxed) == warm; }
  [[nodiscard]] bool counting() const { return phase_.load(std::memory_order_relaxed) == open; }

  /// Runs `worker(thread)` on `threads` threads; it returns the operations it counted, usually by
  /// count_operations. Returns operations, seconds, context switches, and what the library's
  /// statistics counted meanwhile: that is exact but for the sections in flight at the opening.
  /// Throws `interrupted` after a stop request, or what a worker threw; no thread is left behind.
  /// A window runs once.
  measurement run(unsigned threads, const std::stop_token& stop,
                  const std::function<std::uint64_t(unsigned thread)>& worker);

 private:
  enum phase : int { warm, open, closed };

  std::chrono::milliseconds length_;
  alignas(cache_line) std::atomic<phase> phase_{warm};
};

/// Calls `operation` while `during` is warming or counting; returns how often it was counted.
template <class Operation>
std::uint64_t count_operations(const window& during, Operation operation) {
  while (during.warming()) operation();
  std::uint64_t count = 0;
  while (during.counting()) {
    operation();
    ++count;
  }
  return count;
}

}  // namespace unlatch::studies
