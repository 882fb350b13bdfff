// SPDX-License-Identifier: Apache-2.0
//
// policy::coarsened<Policy>: joins the sections that follow each other on one lock into one
// hardware transaction, to pay for its begin and commit once. For short sections without
// contention.
//
//   elided<mutex, policy::coarsened<policy::adaptive>> latch("queue");
//
// How it runs. After K commits in a row a section's unlock() does not commit. The transaction stays
// open until the same thread ends its next section of the same lock, and so on, for 2 sections at
// first, then for twice as many after each commit, 32 at most. A capacity abort halves the number,
// any other abort turns coarsening off until there are K commits in a row again. An open
// transaction is committed early by commit_open(), by condition_variable::wait(), and where an
// action of on_commit() or on_unlock() has to run.
//
// What this means for the code *between* the sections: it runs in the transaction, too.
//   - It may be executed several times, like the sections themselves; on hardware everything that
//     it did before is undone.
//   - System calls, I/O and page faults in it are safe, but abort: then all is executed again,
//     section by section.
//   - What it and the sections before it wrote becomes visible to other threads when they look:
//     their access aborts the transaction, and the sections run again one by one. Code that runs on
//     for long without looking at a lock loses what it did since then at the next interrupt, and
//     does it again. commit_open() before it, or before waiting for somebody, avoids both.
//   - It must not hand plain memory to a device or another process and expect it to be seen.
//
// Why it is correct. The transaction begins in the first section with the lock free, and the lock
// word stays in its read set until the commit: nobody holds the lock from the first section's begin
// to the last one's end, and all of it happens at one instant, the commit, in program order. A
// thread that held the lock once through all these sections would do the same. If the transaction
// aborts, memory and registers, the stack included, go back to the begin, so no section has run
// half; retried, the sections run one by one.
//
// Why guards need this policy for it. Code between closures was written for this library, code
// between guards may be anything; and a longer transaction has a larger footprint and a larger
// window for conflicts, whose cost is all of its sections. For closures `adaptive` measures whether
// it pays. Source: Chitters, Midvidy, Tsui, section 4.2.2; there the thresholds are not given: K,
// the doubling and the limit of 32 are ours.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <string_view>

#include "unlatch/policy.hpp"
#include "unlatch/section.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch {

namespace policy {

/// `Policy` with coarsening after `K` commits in a row. What Policy learns must not be shared
/// between threads, for the number of sections is learned beside it.
template <class Policy, unsigned K = 16>
struct coarsened {
  static_assert(Policy::scope != memory_scope::lock,
                "coarsening learns per thread: it needs a policy that does so or learns nothing");
  static_assert(K > 0);

  static constexpr std::string_view name = "coarsened";
  static constexpr memory_scope scope = memory_scope::thread;
  static constexpr std::uint64_t wait_ticks = Policy::wait_ticks;
  static constexpr software_use software = software_use_of<Policy>();
  static constexpr std::uint16_t most_sections = 32;

  struct memory {
    [[no_unique_address]] typename Policy::memory base;
    std::uint16_t commits;        ///< in a row, up to K
    std::uint16_t joined;         ///< sections that a transaction may hold; 0 and 1: off
    std::uint16_t coarse_aborts;  ///< of this section, not shown to Policy
  };

  static bool admits(memory& m) noexcept {
    m.coarse_aborts = 0;
    return Policy::admits(m.base);
  }

  /// An abort while several sections were joined says nothing of one: it is not Policy's business.
  static decision decide(const outcome& o, memory& m) noexcept {
    const bool was_on = m.joined > 1;
    m.commits = 0;
    m.joined = o.status.capacity() ? m.joined / 2 : 0;
    if (was_on && !o.status.lock_held()) {
      ++m.coarse_aborts;
      return {next_step::wait_then_retry};
    }
    return Policy::decide({o.status, o.attempt - m.coarse_aborts, o.lock_held}, m.base);
  }

  static void committed(memory& m, unsigned attempts) noexcept {
    Policy::committed(m.base, attempts - m.coarse_aborts);
    if (m.commits < K && ++m.commits < K) return;
    m.joined = m.joined < 2 ? 2 : m.joined < most_sections ? m.joined * 2 : most_sections;
  }

  /// How many sections the transaction that is open may hold.
  static unsigned sections(const memory& m) noexcept { return m.joined > 1 ? m.joined : 1; }
};

}  // namespace policy

/// A policy that may keep a transaction open after its outermost section.
template <class P>
concept coarsening_policy = requires(const typename P::memory& m) {
  { P::sections(m) } -> std::convertible_to<unsigned>;
};

/// One that does so for closures alone, while `joining` in its memory, a detail::path, says so.
template <class P>
concept joins_closures = coarsening_policy<P> && requires(typename P::memory& m) {
  m.joining;
};

namespace detail {

/// What the policy, whose memory is of thread scope, has learned in this row.
template <class Policy>
typename Policy::memory& thread_memory(thread_row& row) noexcept {
  return *std::launder(reinterpret_cast<typename Policy::memory*>(row.policy_memory.data()));
}

/// Counts the commit of the transaction that the section `first` began.
template <class Policy>
void count_commit(const open_section& first) {
  thread_row& row = this_thread_row(first.row);
  row.add(statistics::counter::committed);
  Policy::committed(thread_memory<Policy>(row), first.attempt);
}

/// Commits a transaction that was kept open after its outermost section.
template <class Policy, class Htm>
void commit_kept(const open_section& first) {
  Htm::commit();
  count_commit<Policy>(first);
}

}  // namespace detail

/// Commits the transaction that coarsening keeps open on this thread, if there is one and the
/// thread is between sections; then runs what was put off. A load and a branch where there is none.
inline void commit_open() { detail::this_section().commit_kept(); }

}  // namespace unlatch
