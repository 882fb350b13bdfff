// SPDX-License-Identifier: Apache-2.0
//
// A transaction backend that does what a test says: each begin() starts or returns the abort status
// that comes next in the calling thread's script. It records what was asked of it.
//
// It isolates nothing and undoes nothing: with a script that starts transactions, use one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include "unlatch/htm.hpp"

namespace unlatch::testing {

inline constexpr htm::status started{htm::status::started_word};
inline constexpr htm::status conflict{htm::status::conflict_bit};
inline constexpr htm::status conflict_retry{htm::status::conflict_bit | htm::status::retry_bit};
inline constexpr htm::status capacity{htm::status::capacity_bit};
inline constexpr htm::status capacity_retry{htm::status::capacity_bit | htm::status::retry_bit};
inline constexpr htm::status conflict_capacity{htm::status::conflict_bit |
                                               htm::status::capacity_bit};
inline constexpr htm::status lock_held = htm::status::aborted_with(htm::status::lock_held_code);
inline constexpr htm::status explicit_abort = htm::status::aborted_with(7);
inline constexpr htm::status nested{htm::status::nested_bit};
inline constexpr htm::status retry_alone{htm::status::retry_bit};
inline constexpr htm::status interrupt{0};

class scripted {
 public:
  /// What the calling thread's transactions do: these in order, then always `afterwards`. Forgets
  /// what was recorded.
  static void play(std::initializer_list<htm::status> script, htm::status afterwards = started) {
    state() = {};
    state().script = script;
    state().afterwards = afterwards;
  }

  /// What other threads' transactions do until they play() something themselves.
  static inline htm::status in_new_threads = conflict;

  /// Runs `f` inside the next transaction, right after it has started.
  static void in_next_transaction(std::function<void()> f) { state().inside = std::move(f); }

  /// One letter for each call of the calling thread: b(egin that started), x (begin that aborted),
  /// c(ommit), a(bort).
  static const std::string& calls() { return state().calls; }
  static unsigned begins() { return state().begins; }

  // --- the backend ------------------------------------------------------------------------------

  static bool available() noexcept { return true; }

  static htm::status begin() {
    auto& s = state();
    ++s.begins;
    htm::status next = s.afterwards;
    if (!s.script.empty()) {
      next = s.script.front();
      s.script.pop_front();
    }
    s.active = next.started();
    s.calls += s.active ? 'b' : 'x';
    if (s.active && s.inside) std::exchange(s.inside, nullptr)();
    return next;
  }

  static void commit() {
    state().active = false;
    state().calls += 'c';
  }

  template <std::uint8_t Code>
  static htm::status abort() {
    state().active = false;
    state().calls += 'a';
    return htm::status::aborted_with(Code);
  }

  static bool active() noexcept { return state().active; }

 private:
  struct thread_state {
    std::deque<htm::status> script;
    htm::status afterwards = in_new_threads;
    std::function<void()> inside;
    std::string calls;
    unsigned begins = 0;
    bool active = false;
  };

  static thread_state& state() {
    static thread_local thread_state s;
    return s;
  }
};

}  // namespace unlatch::testing
