// SPDX-License-Identifier: Apache-2.0
#include "src/probe/recorder/acquisitions.hpp"

namespace unlatch::probe::recorder {

void note_contention(recording::lock_use& use, const attempt& went) noexcept {
  add(use.wait_ticks, went.wait);
  if (!went.acquired()) {
    add(use.refused, 1);
    return;
  }
  if (went.contended) add(use.contended, 1);
  if (went.by_sample) add(use.contended_by_sample, 1);
}

void begin_holding(recorded_thread& thread, recording::lock_use& use) noexcept {
  constexpr std::uint32_t most = sizeof thread.held / sizeof thread.held[0];
  if (thread.held_count == most) return;
  thread.held[thread.held_count++] = {use.lock, ticks(), &use};
}

void end_holding(recorded_thread& thread, std::uint64_t lock) noexcept {
  const busy_thread busy(thread);
  for (std::uint32_t i = thread.held_count; i-- > 0;) {
    const held_lock found = thread.held[i];
    if (found.lock != lock) continue;
    const std::uint64_t took = ticks() - found.since;
    for (std::uint32_t j = i + 1; j < thread.held_count; ++j) thread.held[j - 1] = thread.held[j];
    --thread.held_count;
    add(found.use->timed, 1);
    add(found.use->held_ticks, took);
    auto& count = found.use->held.of[recording::duration_counts::class_of(took)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
}

}  // namespace unlatch::probe::recorder
