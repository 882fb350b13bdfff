// SPDX-License-Identifier: Apache-2.0
//
// The core of ticket_mutex and rw_semaphore: a number that is called up, and a place to wait until
// one's own is.
//
// Thread safety: wait_for() by any thread, one thread a number; call_next() by one thread at a
// time, call_one_more() by any.
//
//   field     | bits | meaning
//   ----------+------+---------------------------------------------------------------------------
//   now_      | 0-31 | the number called last; wraps around
//   rooms_[i] |  0   | somebody whose number is i modulo `Rooms` sleeps here or is about to
//             | 1-31 | changes with every wake-up, so sleeping on the old value ends at once
//
// Invariants
//   1. Numbers are called in order, each once.
//   2. No lost wake-up. A sleeper marks its room, executes a barrier in all threads, then looks at
//      now_ once more. Whoever calls changes now_ and then loads the room. If the sleeper still saw
//      an older number, the caller's store came after the barrier, and so does its load: it sees
//      the mark.
//   3. A room is unmarked by changing its whole word, so whoever slept in it before looks again;
//      nobody who was called can sleep on unnoticed because another caller unmarked the room first.
//
// Who calls looks at the room after the call, when the next owner may be done already: a lock that
// is built on this must live until unlock() has returned.
//
// Several rooms, so that a call wakes the thread that was called and not all that wait: up to
// `Rooms` sleepers never disturb each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>

#include "unlatch/parking.hpp"
#include "unlatch/parking_lock.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::detail {

template <unsigned Rooms = 4>
class ticket_queue {
 public:
  /// The number called last. Acquires what its callers released.
  std::uint32_t now() const noexcept { return now_.load(std::memory_order_acquire); }

  /// Returns once `number` is called: spins with a back-off that is proportional to the distance,
  /// then sleeps.
  void wait_for(std::uint32_t number) noexcept {
    if (now() != number) [[unlikely]]
      wait_in_line(number);
  }

  /// Calls the number after now(). A plain store and a load; the caller is the only one who may
  /// call.
  void call_next() noexcept {
    const std::uint32_t next = now_.load(std::memory_order_relaxed) + 1;
    now_.store(next, std::memory_order_release);
    parking::light_fence();
    wake_if_asleep(next);
  }

  /// The same where others may call at the same time: one locked instruction.
  void call_one_more() noexcept {
    wake_if_asleep(now_.fetch_add(1, std::memory_order_acq_rel) + 1);
  }

 private:
  static constexpr std::uint32_t asleep = 1;
  static constexpr unsigned looks = 60;  // about the cost of parking, for the next in line
  static constexpr std::uint32_t pauses_a_place = 4;  // about a short section
  static constexpr std::uint32_t most_pauses = 32;

  std::atomic<std::uint32_t>& room_of(std::uint32_t number) noexcept {
    return rooms_[number % Rooms];
  }

  [[gnu::noinline, gnu::cold]] void wait_in_line(std::uint32_t number) noexcept {
    // Where more threads wait than there are CPUs, one of those ahead of us waits for ours.
    const bool may_spin = parking::cpus() > 1 && number - now() < parking::cpus();
    for (unsigned look = may_spin ? looks : 0; look != 0; --look) {
      const std::uint32_t pauses = std::min(most_pauses, pauses_a_place * (number - now()));
      for (std::uint32_t i = 0; i < pauses; ++i) cpu_relax();
      if (now() == number) return;
    }
    // Not yield(): our number may be called while the scheduler passes over us, and all others
    // wait.
    sleep_until_called(number);
  }

  void sleep_until_called(std::uint32_t number) noexcept {
    std::atomic<std::uint32_t>& room = room_of(number);
    for (;;) {
      const std::uint32_t marked = room.fetch_or(asleep, std::memory_order_relaxed) | asleep;
      const bool barrier_done = parking::barrier_in_all_threads();
      if (now() == number) return;  // the mark costs a later caller one needless wake-up
      if (barrier_done)
        parking::wait(room, marked);
      else  // no barrier, so the caller may have missed the mark: look again after a millisecond
        parking::wait_until(room, marked, parking::clock::now() + std::chrono::milliseconds(1));
      if (now() == number) return;
    }
  }

  void wake_if_asleep(std::uint32_t number) noexcept {
    if (room_of(number).load(std::memory_order_relaxed) & asleep) [[unlikely]]
      wake(number);
  }

  [[gnu::noinline, gnu::cold]] void wake(std::uint32_t number) noexcept {
    std::atomic<std::uint32_t>& room = room_of(number);
    std::uint32_t marked = room.load(std::memory_order_relaxed);
    // Adding 1 to a marked word unmarks it and changes the rest.
    if ((marked & asleep) &&
        room.compare_exchange_strong(marked, marked + 1, std::memory_order_relaxed))
      parking::wake(&room, INT_MAX);
  }

  std::atomic<std::uint32_t> now_{0};
  std::atomic<std::uint32_t> rooms_[Rooms]{};
};

}  // namespace unlatch::detail
