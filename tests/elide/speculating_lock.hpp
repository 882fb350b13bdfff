// SPDX-License-Identifier: Apache-2.0
//
// A lock whose closures always speculate in software first, and a writer that gets in their way.
#pragma once

#include <mutex>
#include <thread>

#include "unlatch/elide.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::testing {

using speculating_lock = elided<spin_mutex, policy::always_software, htm::none>;

/// Runs an empty closure, so that the lock keeps its sequence from now on.
inline void warm_up(speculating_lock& lock) {
  elide(lock, [](auto&) {});
}

/// Holds and releases the lock in another thread: every speculation under way must abort.
inline void disturb(speculating_lock& lock) {
  std::thread([&] { const std::scoped_lock guard(lock); }).join();
}

/// Disturbs the first time it is asked.
class disturb_once {
 public:
  explicit disturb_once(speculating_lock& lock) : lock_(lock) {}
  void operator()() {
    if (done_) return;
    done_ = true;
    disturb(lock_);
  }

 private:
  speculating_lock& lock_;
  bool done_ = false;
};

inline std::uint64_t total(statistics::counter c) { return statistics::snapshot().total()[c]; }

}  // namespace unlatch::testing
