// SPDX-License-Identifier: Apache-2.0
//
// The plain test-and-test-and-set spin lock, as a peer to measure against: no back-off, no parking.
#pragma once

#include <atomic>

#include "unlatch/platform.hpp"

namespace unlatch::studies {

/// Lockable. Collapses when threads outnumber CPUs: a waiter spins until its time slice ends.
class alignas(cache_line) ttas_mutex {
 public:
  void lock() noexcept {
    while (!try_lock()) {
      while (held_.load(std::memory_order_relaxed)) cpu_relax();
    }
  }
  bool try_lock() noexcept { return !held_.exchange(true, std::memory_order_acquire); }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace unlatch::studies
