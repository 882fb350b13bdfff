// SPDX-License-Identifier: Apache-2.0
//
// The default policy. What it learns is kept per thread and lock name or call site, so learning
// never causes a conflict.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "unlatch/policy.hpp"

namespace unlatch::policy {

/// Tells causes apart within a section; whether to try at all is measured, not guessed.
///
/// - Trying at all: only while it is faster than the lock, which is measured again and again
///   (path_choice.hpp). One thread alone is better off with the lock (Nießing 2020), and sections
///   that truly conflict often are. Aborts do not tell: of ten policies that go by aborts, those
///   that give up soon lose most where threads meet without conflicting.
/// - The lock is held: wait for it before beginning (at most 10 000 ticks, then queue for the lock:
///   a section that long is not worth waiting for). Such aborts hardly count, so one thread in the
///   lock does not drive all others there (the lemming effect, Schrimpf 2014 section 5).
/// - Conflict: up to 7 more attempts, after a random pause that grows with each.
/// - Capacity: once more if the hardware says so (an SMT sibling may have caused it), else the
///   lock; and the sections of this thread and place that come next skip elision: 1, after each
///   further one twice as many, at most 64. Each commit halves that.
/// - Interrupts, page faults and system calls: once more; a page fault is served by the lock's run.
struct adaptive {
  static constexpr std::string_view name = "adaptive";
  static constexpr memory_scope scope = memory_scope::thread;
  static constexpr std::uint64_t wait_ticks = 10'000;
  static constexpr bool measured = true;
  static constexpr std::uint32_t longest_skip = 64;

  struct memory {
    std::uint32_t skip_left;    ///< sections still to go without trying
    std::uint32_t next_skip;    ///< how many to skip after the next one too big; 0 stands for 1
    std::uint32_t lock_aborts;  ///< lock-held aborts in this section
  };

  static bool admits(memory& m) noexcept {
    m.lock_aborts = 0;
    if (m.skip_left == 0) return true;
    --m.skip_left;
    return false;
  }

  static decision decide(const outcome& o, memory& m) noexcept {
    if (o.status.lock_held() && ++m.lock_aborts < 8) return {next_step::wait_then_retry};
    const unsigned attempts = o.attempt - m.lock_aborts;
    if (o.status.conflict() && !o.status.capacity() && attempts < 8)
      return {next_step::wait_then_retry, detail::random_below(8 * attempts)};
    const bool may_fit = o.status.capacity() && o.status.retry();
    if ((may_fit || o.status.why() == htm::cause::other) && attempts < 2)
      return {next_step::wait_then_retry};
    if (o.status.capacity()) {
      m.skip_left = std::max<std::uint32_t>(m.next_skip, 1);
      m.next_skip = std::min(longest_skip, m.skip_left * 2);
    }
    return {next_step::fall_back};
  }

  static void committed(memory& m, unsigned) noexcept { m.next_skip /= 2; }
};

/// As adaptive, but elide() always speculates in software first: for tests and for studying what
/// that path costs and gains by itself.
struct always_software : adaptive {
  static constexpr std::string_view name = "always_software";
  static constexpr software_use software = software_use::always;
};

}  // namespace unlatch::policy
