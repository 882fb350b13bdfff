// SPDX-License-Identifier: Apache-2.0
//
// The default policy. What it learns is kept per thread and lock name or call site, so learning
// never causes a conflict.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "unlatch/path_choice.hpp"
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
/// - Closures of elide() that follow each other on a thread may share a transaction, where that is
///   faster still: begin and commit cost as much as a lock. It stays open for the next ones, 31 at
///   most; coarsening.hpp says what that means for the code between them. In one of two ways:
///   `joined` takes in one more after each commit, and after an abort runs the next section alone
///   and begins again; so the number stays where a commit is about as likely as an abort. In
///   `in_turns` the number stays high, and who meets another thread waits for a random while, up to
///   four times as long as its own transaction had run and twice as long after each further
///   meeting: so sections that truly conflict run in batches, one thread at a time, and lock and
///   data stay in its cache (exponential back-off, as stations on one wire do: Metcalfe and Boggs
///   1976).
struct adaptive {
  static constexpr std::string_view name = "adaptive";
  static constexpr memory_scope scope = memory_scope::thread;
  static constexpr std::uint64_t wait_ticks = 10'000;
  static constexpr bool measured = true;
  static constexpr int longest_skip = 64;
  static constexpr int most_joined = 31;
  static constexpr unsigned joined_aborts = 16;  ///< of a section, before it takes the lock
  static constexpr std::uint64_t longest_turn = 100'000;  ///< ticks
  using path = unlatch::detail::path;

  struct memory {
    std::uint8_t skip_left;     ///< sections still to go without trying
    std::uint8_t next_skip;     ///< how many to skip after the next one too big; 0 stands for 1
    std::uint16_t not_counted;  ///< aborts of this section that do not count as attempts
    std::uint8_t joined;        ///< closures that a transaction may take in beside its first
    std::uint8_t commits;       ///< since that number grew
    std::uint8_t wary_by;       ///< how far below most_joined it begins to grow slowly
    std::uint8_t turn;          ///< as `joined`, where threads take turns
    std::uint8_t crowd;         ///< how many threads seem to want one, as a power of 2
    path joining;               ///< whether and how closures may join now
  };

  static bool admits(memory& m) noexcept {
    m.not_counted = 0;
    if (m.skip_left == 0) return true;
    --m.skip_left;
    return false;
  }

  static decision decide(const outcome& o, memory& m) noexcept {
    if (sections(m) > 1) {  // says little of one
      if (++m.not_counted < joined_aborts) return after_joined(o, m);
      return {next_step::fall_back};
    }
    if (o.status.lock_held() && ++m.not_counted < 8) return {next_step::wait_then_retry};
    const unsigned attempts = o.attempt - m.not_counted;
    if (o.status.conflict() && !o.status.capacity() && attempts < 8)
      return {next_step::wait_then_retry, detail::random_below(8 * attempts)};
    const bool may_fit = o.status.capacity() && o.status.retry();
    if ((may_fit || o.status.why() == htm::cause::other) && attempts < 2)
      return {next_step::wait_then_retry};
    if (o.status.capacity()) {
      m.skip_left = std::max<std::uint8_t>(m.next_skip, 1);
      m.next_skip = static_cast<std::uint8_t>(std::min(longest_skip, 2 * m.skip_left));
    }
    return {next_step::fall_back};
  }

  static void committed(memory& m, unsigned) noexcept {
    m.next_skip /= 2;
    if (m.joining == path::joined) {
      // One more after a commit; above half of what last aborted, after one commit more each time.
      const int safe = most_joined - m.wary_by;
      if (++m.commits + safe < m.joined) return;
      m.commits = 0;
      if (m.joined < most_joined) ++m.joined;
    } else if (m.joining == path::in_turns) {
      if (m.crowd > 0) --m.crowd;
      m.turn = static_cast<std::uint8_t>(std::min(most_joined, 2 * m.turn + 1));
    }
  }

  /// How many sections the transaction that is open may hold.
  static unsigned sections(const memory& m) noexcept {
    if (m.joining == path::joined) return m.joined + 1u;
    return m.joining == path::in_turns ? m.turn + 1u : 1u;
  }

 private:
  static decision after_joined(const outcome& o, memory& m) noexcept {
    if (m.joining == path::joined) {
      m.wary_by = static_cast<std::uint8_t>(most_joined - m.joined / 2);
      m.joined = m.commits = 0;
    } else if (!o.status.conflict()) {
      m.turn = o.status.capacity() ? m.turn / 2 : 0;
    } else {
      // The other one needs about as long as this one had, and so does each of those that wait.
      const std::uint64_t longest = std::min(o.ticks << (2 + m.crowd), longest_turn);
      if (m.crowd < 6) ++m.crowd;
      return {next_step::wait_then_retry, 0,
              detail::random_below(static_cast<std::uint32_t>(longest))};
    }
    return {next_step::wait_then_retry};
  }
};

/// As adaptive, but elide() always speculates in software first: for tests and for studying what
/// that path costs and gains by itself.
struct always_software : adaptive {
  static constexpr std::string_view name = "always_software";
  static constexpr software_use software = software_use::always;
};

/// As adaptive, but closures always take path `P` where there are hardware transactions: likewise.
template <unlatch::detail::path P>
struct always : adaptive {
  static constexpr std::string_view name = "always";
  static constexpr unlatch::detail::path way = P;
};

}  // namespace unlatch::policy
