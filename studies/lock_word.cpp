// SPDX-License-Identifier: Apache-2.0
//
// How to write a lock that is to be elided (Schrimpf 2014, sections 2.4 and 3.1): the type of its
// word, waiting by writing or by reading, and why a transaction must read it.
#include <atomic>
#include <cstdint>

#include "studies/formatted.hpp"
#include "studies/locked_counters.hpp"
#include "studies/studies.hpp"
#include "unlatch/elided.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/policy.hpp"
#include "unlatch/spin_mutex.hpp"

namespace unlatch::studies {
namespace {

/// A lock of one word. `Reads`: who waits only reads until it is free, else it goes on exchanging.
template <class Word, bool Reads>
class word_lock {
 public:
  void lock(unsigned) {
    while (word_.exchange(1, std::memory_order_acquire) != 0) {
      do {
        cpu_relax();
      } while (Reads && is_held());
    }
  }
  void unlock(unsigned) { word_.store(0, std::memory_order_release); }
  [[nodiscard]] bool is_held() const { return word_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<Word> word_{0};
};

using plain_lock = word_lock<std::uint32_t, true>;

/// Elided by one attempt, then the lock: what the prefixes do.
class prefixed_lock {
 public:
  void lock(unsigned) { lock_.lock(); }
  void unlock(unsigned) { lock_.unlock(); }

 private:
  elided<spin_mutex, policy::hle> lock_{"lock_word"};
};

/// Even threads take the lock, odd ones run transactions. Only where these read the lock do they
/// notice that somebody holds it: without that, updates get lost.
template <bool Subscribed>
class mixed_lock {
 public:
  void lock(unsigned thread) {
    if (thread % 2 == 0) {
      lock_.lock(thread);
      return;
    }
    for (;;) {
      while (Subscribed && lock_.is_held()) cpu_relax();
      if (htm::hardware::begin().started()) {
        if (!Subscribed || !lock_.is_held()) return;
        (void)htm::hardware::abort<htm::status::lock_held_code>();
      }
      cpu_relax();
    }
  }
  void unlock(unsigned thread) {
    if (thread % 2 == 0) {
      lock_.unlock(thread);
    } else {
      htm::hardware::commit();
    }
  }

 private:
  plain_lock lock_;
};

template <class Lock>
measurement measure_lock_word(const cell& one, const std::stop_token& stop) {
  const std::uint64_t steps = one.case_name == "held" ? one.params.at("held_steps") : 0;
  auto [measured, lost] = count_under_locks<Lock>(one, stop, locks_of(one.case_name), steps);
  if (one.mode != "unsubscribed" && lost != 0) {
    throw study_error(formatted(
        "study lock_word, mode {}: {} increments were lost, please report this", one.mode, lost));
  }
  measured.extra["figures"]["lost_updates"] = {{"value", lost}, {"unit", "increments"}};
  return measured;
}

measurement measure_mode(const cell& one, const std::stop_token& stop) {
  if (one.mode == "ttas") return measure_lock_word<plain_lock>(one, stop);
  if (one.mode == "tas") return measure_lock_word<word_lock<std::uint32_t, false>>(one, stop);
  if (one.mode == "ttas-8") return measure_lock_word<word_lock<std::uint8_t, true>>(one, stop);
  if (one.mode == "ttas-16") return measure_lock_word<word_lock<std::uint16_t, true>>(one, stop);
  if (one.mode == "ttas-64") return measure_lock_word<word_lock<std::uint64_t, true>>(one, stop);
  if (one.mode == "elided") return measure_lock_word<prefixed_lock>(one, stop);
  if (one.mode == "subscribed") return measure_lock_word<mixed_lock<true>>(one, stop);
  return measure_lock_word<mixed_lock<false>>(one, stop);
}

}  // namespace

study lock_word_study() {
  study what;
  what.name = "lock_word";
  what.description = "The word of a lock: its type, how to wait for it, why transactions read it";
  what.cases = {{"locks-1", "one lock, unlocked at once"},
                {"locks-10", "10 locks, one at random, unlocked at once"},
                {"locks-100", "100 locks, one at random, unlocked at once"},
                {"held", "one lock, held for a while"}};
  constexpr auto hardware = machine_need::transactions;
  what.modes = {
      {"ttas", "32 bits; who waits reads (test-and-test-and-set)"},
      {"tas", "32 bits; who waits writes (test-and-set)"},
      {"ttas-8", "8 bits; who waits reads"},
      {"ttas-16", "16 bits; who waits reads"},
      {"ttas-64", "64 bits; who waits reads"},
      {"elided", "one transaction, then the lock", {}, hardware},
      {"subscribed", "half the threads run transactions that read the lock", {}, hardware},
      {"unsubscribed",
       "half the threads run transactions that do not read the lock: updates get lost",
       {},
       hardware}};
  what.parameters = {{"held_steps", "steps that do nothing while the lock is held", 1000, 1000, 0},
                     {"window_ms", "length of a cell in milliseconds", 200, 100, 1, 600'000, 2}};
  what.threads = {1, 2, 4};
  what.measure = measure_mode;
  return what;
}

}  // namespace unlatch::studies
