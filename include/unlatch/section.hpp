// SPDX-License-Identifier: Apache-2.0
//
// What a thread knows of the critical sections it is in: which elided locks are open in its
// hardware transaction, how deep its elide() closures are nested, and what it has put off until
// they end.
//
// Thread safety: one object a thread, touched by that thread only. What is written here inside a
// hardware transaction is rolled back with it, which is what makes deferred actions safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "unlatch/platform.hpp"

namespace unlatch {
namespace detail {

/// A callable to run once, later. Small trivially copyable ones are stored in place.
class deferred_action {
 public:
  template <class F>
  deferred_action(const void* lock, F&& f) : lock_(lock) {
    using callable = std::decay_t<F>;
    if constexpr (sizeof(callable) <= sizeof(state_) && std::is_trivially_copyable_v<callable>) {
      ::new (static_cast<void*>(state_)) callable(std::forward<F>(f));
      act_ = [](void* state, bool run) {
        if (run) (*std::launder(static_cast<callable*>(state)))();
      };
    } else {
      auto* const boxed = new callable(std::forward<F>(f));
      std::memcpy(state_, &boxed, sizeof(boxed));
      act_ = [](void* state, bool run) {
        callable* action;
        std::memcpy(&action, state, sizeof(action));
        struct releaser {
          callable* target;
          ~releaser() { delete target; }
        } const release{action};
        if (run) (*action)();
      };
    }
  }

  /// Exactly one of these is called, once.
  void run() { act_(state_, true); }
  void drop() { act_(state_, false); }

  /// The lock at whose release it runs; null: at the end of the outermost closure or transaction.
  const void* lock() const noexcept { return lock_; }

 private:
  alignas(void*) unsigned char state_[3 * sizeof(void*)];
  void (*act_)(void* state, bool run);
  const void* lock_;
};

/// A section of an elided lock in the open transaction.
struct open_section {
  const void* lock;
  unsigned attempt;   ///< which attempt of its section began the transaction; 1 for flattened ones
  std::uint16_t row;  ///< where it is counted
};

class speculation;

class section_context {
 public:
  /// Elided sections that one transaction may hold; one deeper is run under its lock.
  static constexpr unsigned max_open = 16;

  // --- elided locks in the hardware transaction -----------------------------------------------

  bool in_transaction() const noexcept { return open_count() != 0; }
  bool can_open() const noexcept { return open_count() < max_open; }
  void open(const void* lock, std::uint16_t row, unsigned attempt) noexcept {
    if (open_count() == 0) joined_ = 0;
    open_[open_count()] = {lock, attempt, row};
    ++nesting_;
  }
  bool is_open(const void* lock) const noexcept {
    const unsigned ended = kept_ != nullptr && !is_in_joined() ? 1 : 0;
    for (unsigned i = open_count(); i-- > ended;)
      if (open_[i].lock == lock) return true;
    return false;
  }
  /// Closes the innermost section of `lock`, which is open.
  open_section close(const void* lock) noexcept {
    unsigned i = open_count() - 1;
    while (open_[i].lock != lock) --i;
    const open_section ended = open_[i];
    for (--nesting_; i < open_count(); ++i) open_[i] = open_[i + 1];
    return ended;
  }

  // --- a transaction that stays open after its outermost section (coarsening.hpp) --------------

  /// Commits on the backend that began, for the section that began.
  using commit_function = void (*)(const open_section& first);

  /// Whether `lock` has the only open section.
  bool is_outermost(const void* lock) const noexcept {
    return open_count() == 1 && open_[0].lock == lock;
  }
  /// Sections that have ended in this transaction without a commit.
  unsigned joined() const noexcept { return joined_; }
  /// The section that began this transaction.
  const open_section& first() const noexcept { return joined_ == 0 ? open_[0] : first_; }

  /// Ends the only open section, not the transaction. Its entry stays, so in_transaction() does.
  /// Returns the section's row.
  std::uint16_t keep_open(commit_function commit) noexcept {
    if (joined_++ == 0) first_ = open_[0];
    kept_ = commit;
    return open_[0].row;
  }
  /// Makes the section that was kept open that of a next section of `lock`, if it is one of this
  /// lock.
  bool resume(const void* lock, std::uint16_t row) noexcept {
    if (kept_ == nullptr || open_[0].lock != lock || (nesting_ & takes_in) != 0) return false;
    kept_ = nullptr;
    open_[0].row = row;
    return true;
  }
  /// Commits a transaction that was kept open, unless another section was entered in it.
  void commit_kept() noexcept {
    if (kept_ != nullptr && open_count() == 1 && !is_in_joined()) [[unlikely]]
      commit_kept_now();
  }

  // --- closures that join a transaction that was kept open for them (adaptive.hpp) --------------

  /// Lets `sections` more closures join the transaction that keep_open() has just kept open.
  void let_join(unsigned sections) noexcept {
    nesting_ |= takes_in | std::uint64_t{sections} << places_at;
    not_counted_from_ = sections;
  }
  /// Whether the thread is between the sections of such a transaction, and there is a place left.
  bool is_between_joined() const noexcept {
    return static_cast<std::uint32_t>(nesting_) == (takes_in | 1);
  }
  /// The lock of the last section.
  const void* joined_lock() const noexcept { return open_[0].lock; }
  /// Enters a section of `lock` that is counted in `row`; is_between_joined(), and the lock is free
  /// and in the read set. Returns what leave_joined() wants.
  std::uint64_t enter_joined(const void* lock, std::uint16_t row) noexcept {
    if (open_[0].row != row) [[unlikely]]
      count_for(row);
    if (open_[0].lock != lock) open_[0].lock = lock;
    return nesting_ += closure;
  }
  /// Leaves it; commits if it was the last one or has put something off.
  void leave_joined(std::uint64_t entered) noexcept {
    const bool is_plain = nesting_ == entered;
    nesting_ -= closure + one_place;
    if (!is_plain || entered < 2 * one_place) [[unlikely]]
      end_joining();
  }
  /// Whether such a section is running: then what it does may still be undone with others before.
  bool is_in_joined() const noexcept { return (nesting_ & takes_in) != 0 && closure_depth() != 0; }

  // --- closures --------------------------------------------------------------------------------

  unsigned closure_depth() const noexcept { return static_cast<std::uint32_t>(nesting_) / closure; }
  /// Whether neither a closure nor a transaction is open.
  bool is_outside() const noexcept { return nesting_ == 0; }
  void enter_closure() noexcept { nesting_ += closure; }
  void leave_closure() noexcept { nesting_ -= closure; }
  /// The same where the thread is_outside(), without waiting for earlier loads and stores.
  void enter_outermost_closure() noexcept { nesting_ = closure; }
  /// Whether only such a closure is open, nothing was put off since it was entered, and no
  /// transaction is kept open (coarsening.hpp).
  bool is_in_plain_closure() const noexcept { return nesting_ == closure; }
  void leave_plain_closure() noexcept { nesting_ = 0; }

  /// The software speculation that this thread runs and that may still abort; else null.
  class speculation* speculation() const noexcept {
    return speculation_;
  }
  void set_speculation(class speculation* running) noexcept { speculation_ = running; }

  // --- deferred actions ------------------------------------------------------------------------

  /// Puts `f` off until `lock` is released or, with a null lock and in a closure or transaction,
  /// until the outermost one has ended. It must not throw then.
  template <class F>
  void defer(const void* lock, F&& f) {
    actions().emplace_back(lock, std::forward<F>(f));
    if (nesting_ != 0) nesting_ |= has_deferred;
  }
  std::size_t deferred_count() const noexcept { return actions_ == nullptr ? 0 : actions_->size(); }

  /// Runs, first in first out, what was put off until the release of `lock`; null: see defer().
  void run_deferred(const void* lock) noexcept;
  /// Forgets everything put off after the first `kept` actions: their section was undone.
  void drop_deferred(std::size_t kept) noexcept {
    if (deferred_count() > kept) [[unlikely]]
      drop(kept);
  }
  /// Runs what was put off in them with a null lock, once neither a transaction nor a closure is
  /// open. What waits for the release of a lock that this thread holds for real goes on waiting.
  void run_deferred_if_outermost() noexcept {
    if ((nesting_ & has_deferred) == 0) [[likely]]
      return;
    commit_kept();  // which comes back here
    if (nesting_ != has_deferred) return;
    nesting_ = 0;
    run_deferred(nullptr);
  }

 private:
  std::vector<deferred_action>& actions() {
    return actions_ != nullptr ? *actions_ : make_actions();
  }
  std::vector<deferred_action>& make_actions();
  void drop(std::size_t kept) noexcept;
  void commit_kept_now() noexcept;
  void end_joining() noexcept;
  void count_for(std::uint16_t row) noexcept;

  static constexpr std::uint32_t takes_in = 1u << 14;
  static constexpr std::uint32_t has_deferred = 1u << 15;
  static constexpr std::uint32_t closure = 1u << 16;
  static constexpr unsigned places_at = 32;
  static constexpr std::uint64_t one_place = std::uint64_t{1} << places_at;

  unsigned open_count() const noexcept { return nesting_ % takes_in; }

  /// One load for all that is unusual.
  ///   bits  | meaning
  ///   ------+------------------------------------------------------------------------------
  ///    0-13 | open sections
  ///     14  | the transaction takes in closures
  ///     15  | something was put off since the outermost closure or transaction began
  ///   16-31 | closures
  ///   32-63 | closures that may still join
  std::uint64_t nesting_ = 0;
  class speculation* speculation_ = nullptr;
  std::vector<deferred_action>* actions_ = nullptr;  ///< freed when the thread ends
  unsigned joined_ = 0;
  unsigned not_counted_from_ = 0;  ///< places that were left when joined sections were last counted
  commit_function kept_ = nullptr;  ///< not null: open_[0] has ended, but its transaction has not
  open_section first_ = {};         ///< if joined_ is not 0
  open_section open_[max_open] = {};
};

/// The calling thread's context. Constant-initialized: reaching it takes one instruction.
extern constinit thread_local section_context thread_section [[gnu::tls_model("initial-exec")]];

inline section_context& this_section() noexcept { return thread_section; }

}  // namespace detail

/// Runs `f` once the calling thread's outermost closure or hardware transaction has ended, or at
/// once if it is in none. Inside a section held by a guard on a plain path use the lock's own
/// on_unlock(). Actions run first in first out, outside every section that elide() or elision
/// opened.
template <class F>
void on_commit(F&& f) {
  auto& section = detail::this_section();
  section.commit_kept();
  if (section.in_transaction() || section.closure_depth() != 0)
    section.defer(nullptr, std::forward<F>(f));
  else
    std::forward<F>(f)();
}

}  // namespace unlatch
