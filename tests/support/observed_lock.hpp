// SPDX-License-Identifier: Apache-2.0
//
// A lock for one thread that records what is done to it and can look as if another thread held it.
#pragma once

#include <atomic>

namespace unlatch::testing {

class observed_lock {
 public:
  static constexpr unsigned for_ever = ~0u;

  /// All locks of the calling thread start anew: free, nothing counted.
  static void reset() { state() = {}; }
  /// The next `n` looks find the lock held, the one after that finds it free.
  static void appear_held(unsigned n) { state().held_looks = n; }
  static unsigned looks() { return state().looks; }
  static unsigned locks() { return state().locks; }
  static unsigned unlocks() { return state().unlocks; }

  void lock() noexcept {
    ++state().locks;
    held_ = true;
  }
  bool try_lock() noexcept {
    if (held_ || state().held_looks != 0) return false;
    lock();
    return true;
  }
  void unlock() noexcept {
    ++state().unlocks;
    held_ = false;
  }
  void lock_shared() noexcept { lock(); }
  bool try_lock_shared() noexcept { return try_lock(); }
  void unlock_shared() noexcept { unlock(); }

  bool is_free() const noexcept {
    auto& s = state();
    ++s.looks;
    if (s.held_looks == 0) return !held_;
    if (s.held_looks != for_ever) --s.held_looks;
    return false;
  }
  bool is_write_free() const noexcept { return is_free(); }

 private:
  struct thread_state {
    unsigned held_looks = 0;
    unsigned looks = 0;
    unsigned locks = 0;
    unsigned unlocks = 0;
  };

  static thread_state& state() {
    static thread_local thread_state s;
    return s;
  }

  bool held_ = false;
};

}  // namespace unlatch::testing
