// SPDX-License-Identifier: Apache-2.0
//
// elided<Lock, Policy>: a lock whose sections run in hardware transactions where the CPU has them,
// and under the lock where it has not or where the policy says so. Change one type name and keep
// the rest.
//
// Thread safety: as the lock's; a section that runs in a transaction behaves as if it held it.
//
// Invariants
//   1. The lock is in the read set of every transaction from its first instruction on, and free
//      there: whoever takes it for real aborts all of them before it touches anything (Schrimpf
//      2014, 3.1).
//   2. Inside a transaction no elided lock is taken for real, so unlock() knows which it ends: a
//      lock that is open in this thread's section_context is elided, another one is held.
//   3. An exclusive section under the lock keeps the sequence of lock_state.hpp odd.
//
// What a section reads and writes: in a transaction the lock word (read) and thread-local state;
// under the lock its line. Without transactions it costs an increment more than the lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <string_view>
#include <type_traits>

#include "unlatch/access.hpp"
#include "unlatch/adaptive.hpp"
#include "unlatch/elision.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/lock_concepts.hpp"
#include "unlatch/lock_state.hpp"
#include "unlatch/policy.hpp"
#include "unlatch/section.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch {

/// `Lock` satisfies elidable (lock_concepts.hpp); `Policy` as in policy.hpp; `Htm` is a backend as
/// in htm.hpp.
template <elidable Lock, class Policy = policy::adaptive, class Htm = htm::hardware>
class elided {
 public:
  using lock_type = Lock;
  using policy_type = Policy;
  using backend = Htm;

  /// A lock without a name; its counts appear in the row "(unnamed)".
  constexpr elided() noexcept = default;
  /// A lock that the statistics call `name`; locks of one name share a row and what policies learn.
  /// Looks the name up under a lock: construct named locks outside of hot paths.
  explicit elided(std::string_view name) : state_(detail::register_row(name, "")) {}
  elided(const elided&) = delete;
  elided& operator=(const elided&) = delete;

  /// Enters a section: in a transaction, or by taking the lock. If the transaction aborts, control
  /// comes back from here again, and everything done since is undone.
  void lock() { enter_exclusive(row()); }
  /// The same, counted for a call site (guard.hpp, elide.hpp).
  void lock(detail::call_site& site, const source_place where) {
    enter_exclusive(site.row_for(row(), where));
  }

  /// Enters a section if that is possible without waiting: one transaction attempt, then the lock's
  /// own try_lock(). May fail spuriously.
  bool try_lock() {
    if (Htm::available()) [[unlikely]] {
      if (detail::this_section().in_transaction())
        return elision::template join<false>(*this, row());
      if (elision::template try_enter<false>(*this, row())) return true;
    }
    if (!lock_.try_lock()) return false;
    entered_exclusive();
    count(row(), counter::sections);
    return true;
  }

  /// Ends the section: commits if it ran in a transaction (the outermost one), else releases the
  /// lock. Then runs what was put off until now.
  void unlock() {
    if (Htm::available()) [[unlikely]] {
      if (elision::leave(*this)) return;
    }
    unlock_held();
  }

  /// Releases the lock, which the caller holds for real.
  void unlock_held() {
    if (state_.wants_attention()) [[unlikely]] {
      if (state_.defers()) return unlock_and_act();
      state_.end_writing();
    }
    lock_.unlock();
  }

  /// As lock(), for sections that only read.
  void lock_shared() requires shared_elidable<Lock> { enter_shared(row()); }
  void lock_shared(detail::call_site& site,
                   const source_place where) requires shared_elidable<Lock> {
    enter_shared(site.row_for(row(), where));
  }
  bool try_lock_shared() requires shared_elidable<Lock> {
    if (Htm::available()) [[unlikely]] {
      if (detail::this_section().in_transaction())
        return elision::template join<true>(*this, row());
      if (elision::template try_enter<true>(*this, row())) return true;
    }
    if (!lock_.try_lock_shared()) return false;
    count(row(), statistics::counter::sections);
    return true;
  }
  void unlock_shared() requires shared_elidable<Lock> {
    if (Htm::available()) [[unlikely]] {
      if (elision::leave(*this)) return;
    }
    lock_.unlock_shared();
  }

  /// Whether nobody holds the lock (exclusively) for real. A section in a transaction does not
  /// show.
  bool is_free() const noexcept { return lock_.is_free(); }
  bool is_write_free() const noexcept requires shared_elidable<Lock> {
    return lock_.is_write_free();
  }

  /// Puts `f` off until this section's effects are visible: after the commit, or after the unlock.
  /// The caller is in an exclusive section of this lock. First in first out.
  template <class F>
  void on_unlock(F&& f) {
    auto& section = detail::this_section();
    if (section.in_transaction() && section.is_open(this)) {
      section.defer(nullptr, std::forward<F>(f));
      return;
    }
    section.defer(this, std::forward<F>(f));
    state_.set_deferred();
  }

  // --- for elide() ------------------------------------------------------------------------------

  detail::row_id row() const noexcept { return state_.row(); }

  /// Enters a section as the policy decides, whatever is faster. `id` is the row of the calling
  /// thread's `row`, in which the section is counted. Not in a transaction.
  /// `chosen` says whether the sections that follow may join its transaction.
  void lock_by_policy(detail::thread_row& row, detail::row_id id, detail::path chosen) {
    if (!elision::template enter<false>(*this, row, id, chosen)) take(row);
  }
  /// Ends that section.
  void unlock_by_policy(detail::path chosen) {
    if (chosen < detail::path::joined || !elision::template leave<false, true>(*this)) unlock();
  }
  /// Whether a section may join the transaction that the thread keeps open for that.
  bool is_joinable(const detail::section_context& section) const noexcept {
    return section.is_between_joined() && (section.joined_lock() == this || lock_.is_free());
  }
  /// Takes the lock for real. True: it is one of `expected`, and there is nothing else to do. Only
  /// then does this look at anything but the lock itself: a look before would fetch a contended
  /// lock's line twice.
  bool lock_plainly(detail::row_id expected) noexcept {
    lock_.lock();
    return state_.is_plain(expected);
  }
  /// Releases a lock that lock_plainly() took, if nothing waits for that.
  void unlock_plainly() noexcept { lock_.unlock(); }
  /// Takes the lock for real and turns software speculation on or off. Counts nothing. Not in
  /// a transaction.
  void lock_for_closure(bool speculate) {
    lock_.lock();
    begin_closure(speculate);
  }
  /// What is left to do for that once lock_plainly() has returned false.
  void begin_closure(bool speculate) noexcept {
    if (const bool kept = state_.keeps_sequence(); kept | speculate) [[unlikely]] {
      entered_exclusive();
      if (kept != speculate) state_.keep_sequence(speculate);
    }
  }

  // As in lock_state.hpp.
  std::uint64_t sequence() const noexcept { return state_.sequence(); }
  bool sequence_is(std::uint64_t expected) const noexcept { return state_.sequence_is(expected); }
  bool keeps_sequence() const noexcept { return state_.keeps_sequence(); }
  bool may_have_speculators() const noexcept { return state_.may_have_speculators(); }

  /// Takes the lock for a speculation whose reads up to now were made at sequence `seen`. On
  /// success the caller is the exclusive owner, no writer was there in between, and sequence() is
  /// `seen + 1`.
  bool upgrade(std::uint64_t seen) noexcept {
    if (!lock_.try_lock()) return false;
    if (!state_.sequence_is(seen)) {
      lock_.unlock();
      return false;
    }
    state_.begin_writing();
    return true;
  }

 private:
  using elision = detail::elision<Policy, Htm>;
  using counter = statistics::counter;

  static void count(detail::row_id row, counter c) { detail::this_thread_row(row).add(c); }

  // --- the plain path ---------------------------------------------------------------------------

  void enter_exclusive(detail::row_id id) {
    if (UNLATCH_CHECKED && detail::this_section().speculation() != nullptr)
      detail::misuse(
          "a lock was taken inside a closure that may still abort and run again: use elide() "
          "for the inner section, too",
          this);
    detail::thread_row& row = detail::this_thread_row(id);
    if (Htm::available() && !elision::prefers_lock(this->row(), row) &&
        elision::template enter<false>(*this, row, id)) [[unlikely]]
      return;
    take(row);
  }

  void take(detail::thread_row& row) {
    lock_.lock();
    entered_exclusive();
    row.add(counter::sections);
  }

  void entered_exclusive() noexcept {
    if (state_.keeps_sequence()) [[unlikely]]
      state_.begin_writing();
  }

  void enter_shared(detail::row_id id) {
    detail::thread_row& row = detail::this_thread_row(id);
    if (Htm::available() && !elision::prefers_lock(this->row(), row) &&
        elision::template enter<true>(*this, row, id)) [[unlikely]]
      return;
    lock_.lock_shared();
    row.add(counter::sections);
  }

  [[gnu::noinline]] void unlock_and_act() {
    if (state_.keeps_sequence()) state_.end_writing();
    state_.clear_deferred();
    lock_.unlock();  // from here on the lock may be gone: only its address is used
    detail::this_section().run_deferred(this);
  }

  // --- what detail::elision asks of a lock ------------------------------------------------------

  friend class detail::elision<Policy, Htm>;

  template <bool Shared>
  const void* identity() const noexcept {
    return this;
  }
  template <bool Shared>
  bool is_free_for() const noexcept {
    if constexpr (Shared)
      return lock_.is_write_free();
    else
      return lock_.is_free();
  }
  typename elision::lock_memory& memory_of_lock() noexcept { return lock_memory_; }

  Lock lock_;
  detail::lock_state state_;
  [[no_unique_address]] typename elision::lock_memory lock_memory_{};
};

}  // namespace unlatch
