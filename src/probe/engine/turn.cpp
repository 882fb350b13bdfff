// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/turn.hpp"

#include <cstdint>

#include "src/probe/engine/other_threads.hpp"
#include "src/probe/engine/system_calls.hpp"

namespace unlatch::probe::engine {
namespace {

/// 0: nobody's, 1: a thread's, 2: a thread's and others wait, as in Drepper's mutex ("Futexes are
/// tricky", 2011, mutex 3).
std::uint32_t turn;
/// Threads that have waited long. While there are some the others let them go first: who runs one
/// transaction after the other would else be faster than anybody can be woken.
std::uint32_t impatient;
constexpr std::uint32_t long_wait_ms = 1;
/// The process that `turn` is about: a child finds its parent's. 0 while it is set right.
int turn_process;

/// A child has its parent's memory but not its threads.
void forget_parent(int process) noexcept {
  int before = __atomic_load_n(&turn_process, __ATOMIC_ACQUIRE);
  if (before == process) return;
  if (before != 0 && __atomic_compare_exchange_n(&turn_process, &before, 0, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&turn, 0u, __ATOMIC_RELEASE);
    __atomic_store_n(&impatient, 0u, __ATOMIC_RELEASE);
    forget_other_threads();
    __atomic_store_n(&turn_process, process, __ATOMIC_RELEASE);
    return;
  }
  while (__atomic_load_n(&turn_process, __ATOMIC_ACQUIRE) != process) asm volatile("pause");
}

}  // namespace

void prepare_turn() noexcept { turn_process = process_id(); }

void take_turn() noexcept {
  forget_parent(process_id());
  std::uint32_t seen = 0;
  if (__atomic_load_n(&impatient, __ATOMIC_ACQUIRE) == 0 &&
      __atomic_compare_exchange_n(&turn, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return;
  }
  const waiting_thread waits(thread_id());
  bool waited_long = false;
  for (;;) {
    if (waited_long || __atomic_load_n(&impatient, __ATOMIC_ACQUIRE) == 0) {
      if (__atomic_exchange_n(&turn, 2, __ATOMIC_ACQUIRE) == 0) break;
      if (!futex_wait(&turn, 2, long_wait_ms) || waited_long) continue;
      waited_long = true;
      __atomic_fetch_add(&impatient, 1, __ATOMIC_ACQ_REL);
    } else {
      std::uint32_t nobody_wakes = 0;
      futex_wait(&nobody_wakes, 0, long_wait_ms);
    }
  }
  if (waited_long) __atomic_fetch_sub(&impatient, 1, __ATOMIC_ACQ_REL);
}

void give_turn() noexcept {
  if (__atomic_exchange_n(&turn, 0, __ATOMIC_RELEASE) == 2) futex_wake(&turn, 1);
}

}  // namespace unlatch::probe::engine
