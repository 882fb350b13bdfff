// SPDX-License-Identifier: Apache-2.0
//
// How a section runs in a hardware transaction: begin, what to do when it aborts, flattening, and
// commit. elided<> keeps a lock and calls this; so does whoever elides a lock that is not its own.
//
// Thread safety: static functions on the calling thread's section_context and counters.
//
// A *lock* here is anything with
//   row_id row()                     its row in the statistics
//   const void* identity<Shared>()   what the section_context calls the section
//   bool is_free_for<Shared>()       readable inside a transaction
//   lock_memory& memory_of_lock()    of the policy, if its scope is the lock
// The invariants are those of elided.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "unlatch/coarsening.hpp"
#include "unlatch/htm.hpp"
#include "unlatch/parking.hpp"
#include "unlatch/path_choice.hpp"
#include "unlatch/policy.hpp"
#include "unlatch/section.hpp"
#include "unlatch/statistics.hpp"

namespace unlatch::detail {

template <class Policy, class Htm>
class elision {
  using counter = statistics::counter;
  using memory = typename Policy::memory;
  static constexpr bool memory_in_lock = Policy::scope == memory_scope::lock;

 public:
  /// What a lock must keep for the policy.
  using lock_memory = std::conditional_t<memory_in_lock, memory, policy::detail::nothing>;

  /// Whether a section had better not begin in a transaction now: that is slower. `lock` is the
  /// lock's row, `row` the one in which the section will be counted.
  static bool prefers_lock(row_id lock, thread_row& row) noexcept {
    if constexpr (!is_measured<Policy>()) return false;
    return !this_section().in_transaction() &&
           path_choice::of(lock).choose(row, row.count(counter::sections), [] { return false; }) ==
               path::direct;
  }

  /// Runs the section in a transaction if the policy wants to; false: take the lock. When the
  /// transaction aborts, control returns from begin() once more with every local as it was. `id` is
  /// the row of the calling thread's `row`. `chosen` says whether the sections that follow may join
  /// the transaction.
  template <bool Shared, class Lock>
  static bool enter(Lock& lock, thread_row& row, row_id id, path chosen = path::speculative) {
    if (this_section().in_transaction()) return join<Shared>(lock, id);
    memory& learned = memory_for(lock, row);
    if (!Policy::admits(learned)) {
      row.add(counter::skipped);
      return false;
    }
    if constexpr (joins_closures<Policy>) learned.joining = chosen;
    constexpr std::uint64_t patience =
        Policy::wait_ticks != policy::no_wait ? Policy::wait_ticks : policy::wait_for_ever;
    bool wait = Policy::wait_ticks != policy::no_wait;
    for (unsigned attempt = 1; !wait || wait_until_free<Shared>(lock, patience); ++attempt) {
      std::uint64_t start = 0;
      if constexpr (joins_closures<Policy>)
        if (chosen == path::in_turns) start = timestamp();
      const htm::status status = begin<Shared>(lock, row, id, attempt);
      if (status.started()) return true;
      const std::uint64_t ticks = start != 0 ? timestamp() - start : 0;
      const decision next =
          Policy::decide({status, attempt, !lock.template is_free_for<Shared>(), ticks}, learned);
      if (next.ticks != 0) {
        const path_choice& choice = path_choice::of(lock.row());
        parking::wait_until([&] { return choice.now() != chosen; }, next.ticks);
      }
      for (std::uint32_t i = 0; i < next.pauses; ++i) cpu_relax();
      if (next.step == next_step::fall_back) break;
      wait = next.step == next_step::wait_then_retry;
    }
    row.add(counter::fallbacks);
    return false;
  }

  /// One attempt, without waiting. Not in a transaction.
  template <bool Shared, class Lock>
  static bool try_enter(Lock& lock, row_id id) {
    thread_row& row = this_thread_row(id);
    return lock.template is_free_for<Shared>() && Policy::admits(memory_for(lock, row)) &&
           begin<Shared>(lock, row, id, 1).started();
  }

  /// Flattens a nested section into the open transaction. True, or the transaction aborts.
  template <bool Shared, class Lock>
  static bool join(Lock& lock, row_id id) {
    section_context& section = this_section();
    const void* const identity = lock.template identity<Shared>();
    if (UNLATCH_CHECKED && !Shared && section.is_open(identity))
      misuse("recursive lock: this thread's transaction has elided the lock already", identity);
    if (lock.template is_free_for<Shared>()) {
      if constexpr (coarsening_policy<Policy>) {
        if (section.resume(identity, id)) {
          this_thread_row(id).add(counter::coarsened);
          return true;
        }
      }
      if (section.can_open()) {
        section.open(identity, id, 1);
        return true;
      }
    }
    // Taking the lock for real would break invariant 2: undo everything and let the policy decide.
    Htm::template abort<htm::status::lock_held_code>();
    return false;
  }

  /// Ends the section of `lock`, entered exclusively or, with `Shared`, for reading, if it runs in
  /// a transaction. `MayKeep`: which may stay open for the sections that follow.
  template <bool Shared = false, bool MayKeep = !joins_closures<Policy>, class Lock>
  static bool leave(Lock& lock) {
    section_context& section = this_section();
    const void* const identity = lock.template identity<Shared>();
    if (!section.in_transaction() || !section.is_open(identity)) return false;
    if constexpr (MayKeep && coarsening_policy<Policy>)
      if (keep_open(section, identity)) return true;
    const open_section first = section.first();
    const open_section ended = section.close(identity);
    thread_row& row = this_thread_row(ended.row);
    if (section.in_transaction()) {
      // Flattened. These counts are thread-local, and undone if the transaction aborts.
      row.add(counter::sections);
      row.add(counter::elided);
      if (section.deferred_count() != 0) section.commit_kept();
      return true;
    }
    Htm::commit();
    row.add(counter::sections);
    row.add(counter::elided);
    if constexpr (coarsening_policy<Policy>) {
      count_commit<Policy>(first);
    } else {
      row.add(counter::committed);
      Policy::committed(memory_for(lock, row), ended.attempt);
    }
    section.run_deferred_if_outermost();
    return true;
  }

 private:
  static constexpr std::uint64_t timed_one_in = 16;

  template <bool Shared, class Lock>
  static bool wait_until_free(const Lock& lock, std::uint64_t limit) noexcept {
    return parking::wait_until([&lock] { return lock.template is_free_for<Shared>(); }, limit);
  }

  template <class Lock>
  static memory& memory_for(Lock& lock, thread_row& row) noexcept {
    static_assert(
        std::is_empty_v<memory> || memory_in_lock ||
        (sizeof(memory) <= sizeof(row.policy_memory) && std::is_trivially_copyable_v<memory>));
    if constexpr (memory_in_lock || std::is_same_v<memory, lock_memory>)
      return lock.memory_of_lock();
    else
      return thread_memory<Policy>(row);
  }

  /// One attempt. Inlined, so that no frame is left between the section and its begin.
  template <bool Shared, class Lock>
  [[gnu::always_inline]] static htm::status begin(Lock& lock, thread_row& row, row_id id,
                                                  unsigned attempt) {
    row.add(counter::started);
    // Reading the clock takes half as long as an empty transaction: one attempt in 16 is timed.
    const bool is_timed = row.count(counter::started) % timed_one_in == 1;
    const std::uint64_t start = is_timed ? timestamp() : 0;
    htm::status status = Htm::begin();
    if (status.started()) {
      if (lock.template is_free_for<Shared>()) [[likely]] {
        this_section().open(lock.template identity<Shared>(), id, attempt);
        return status;
      }
      status = Htm::template abort<htm::status::lock_held_code>();
    }
    if (is_timed) row.add(counter::wasted_ticks, (timestamp() - start) * timed_one_in);
    row.add(statistics::counter_of(status.why()));
    return status;
  }

  /// Ends the section without a commit if it is the outermost and the policy joins it with the
  /// next.
  static bool keep_open(section_context& section, const void* identity) {
    if (!section.is_outermost(identity) || section.deferred_count() != 0) return false;
    const memory& learned = thread_memory<Policy>(this_thread_row(section.first().row));
    if (section.joined() + 1 >= Policy::sections(learned)) return false;
    thread_row& row = this_thread_row(section.keep_open(commit_kept<Policy, Htm>));
    if constexpr (joins_closures<Policy>) section.let_join(Policy::sections(learned) - 1);
    row.add(counter::sections);
    row.add(counter::elided);
    return true;
  }
};

}  // namespace unlatch::detail
