// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/acquisitions.hpp"

#include "src/probe/recorder/sampling.hpp"

namespace unlatch::probe::recorder {
namespace {

/// Keeps handlers of signals, which may take locks, out of the thread's tables.
class busy_thread {
 public:
  explicit busy_thread(recorded_thread& thread) noexcept : thread_(thread) {
    thread_.busy = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~busy_thread() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread_.busy = false;
  }
  busy_thread(const busy_thread&) = delete;
  busy_thread& operator=(const busy_thread&) = delete;

 private:
  recorded_thread& thread_;
};

/// One thread writes a counter: no locked instruction.
template <class Number>
void add(std::atomic<Number>& to, std::uint64_t more) noexcept {
  to.store(to.load(std::memory_order_relaxed) + static_cast<Number>(more),
           std::memory_order_relaxed);
}

/// All of the first, then one in sixteen. The multiples of the golden ratio fall evenly and follow
/// no rhythm that a program may have.
bool is_timed(std::uint64_t acquisition) noexcept {
  constexpr std::uint64_t first = 64;
  return acquisition <= first || acquisition * 0x9e37'79b9'7f4a'7c15u >> 60 == 0;
}

void hold(recorded_thread& thread, std::uint64_t lock, recording::lock_use& use) noexcept {
  constexpr std::uint32_t most = sizeof thread.held / sizeof thread.held[0];
  if (thread.held_count == most) return;
  thread.held[thread.held_count++] = {lock, ticks(), &use};
}

}  // namespace

void note_attempt(recorded_thread& thread, std::uint64_t lock, std::uint64_t site,
                  recording::lock_kind kind, const attempt& went) noexcept {
  const busy_thread busy(thread);
  recording::lock_use* const use = thread.uses.find(lock, site, kind, thread.number);
  if (use == nullptr) return;
  if (__builtin_expect(went.wait != 0, 0)) add(use->wait_ticks, went.wait);
  if (!went.acquired()) {
    add(use->refused, 1);
    return;
  }
  add(use->acquired, 1);
  if (__builtin_expect(went.contended, 0)) add(use->contended, 1);
  if (__builtin_expect(went.by_sample, 0)) add(use->contended_by_sample, 1);
  note_nested(thread, lock);
  if (is_sampled(thread, *use)) return;
  if (is_timed(use->acquired.load(std::memory_order_relaxed))) hold(thread, lock, *use);
}

void note_release(recorded_thread& thread, std::uint64_t lock) noexcept {
  if (__builtin_expect(thread.held_count == 0, 1)) return;
  const busy_thread busy(thread);
  for (std::uint32_t i = thread.held_count; i-- > 0;) {
    const held_lock found = thread.held[i];
    if (found.lock != lock) continue;
    const std::uint64_t took = ticks() - found.since;
    for (std::uint32_t j = i + 1; j < thread.held_count; ++j) thread.held[j - 1] = thread.held[j];
    --thread.held_count;
    add(found.use->timed, 1);
    add(found.use->held_ticks, took);
    add(found.use->held.of[recording::duration_counts::class_of(took)], 1);
    return;
  }
}

}  // namespace unlatch::probe::recorder
