// SPDX-License-Identifier: Apache-2.0
//
// elide(lock, body): the closure form of a critical section. The body is a generic lambda over
// `tx`, compiled three times: for hardware transactions and the lock where there are such, for the
// lock beside software speculation, and for software speculation (speculation.hpp).
//
//   std::uint64_t sum = unlatch::elide(latch, [&](auto& tx) { return tx.read(a) + tx.read(b); });
//
// Which way a section runs
//   - Speculatively or under the lock, whichever is faster now: the choice (path_choice.hpp) is
//     made per lock name and measures both again and again. Policies that do not want to be
//     measured always speculate where there are hardware transactions.
//   - Speculation is in hardware where the CPU can, as the policy decides; else in software. In
//     hardware, sections that follow each other may share a transaction (adaptive.hpp): then the
//     code between them is in it, too, and is undone with it. Others cannot tell: who looks at what
//     it wrote aborts it, and it runs again section by section.
//   - Inside another closure that is still speculating, the outer one takes its lock first: the
//     inner section's effects could not be undone with it.
//
// What a body may do: everything it would do under the lock, as long as fields that others write go
// through `tx`, and what it does other than through `tx` is harmless when done several times.
// Guards on the same lock stay correct beside it if they write shared fields through write_shared()
// or std::atomic_ref.
//
// A body that throws has done what it did, as under a lock. A body must not be noexcept.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "unlatch/elided.hpp"
#include "unlatch/path_choice.hpp"
#include "unlatch/reclamation.hpp"
#include "unlatch/speculation.hpp"

namespace unlatch {

/// Writes a field of a section held by a guard, so that speculating readers notice. The caller
/// holds the lock exclusively.
template <class T>
void write_shared(T& x, const std::type_identity_t<T>& value) noexcept {
  detail::store_shared(x, value);
}

/// What a body gets in a hardware transaction or with the lock held. The members do what those of
/// speculative_tx do; nothing aborts in software. `Watched`: by speculations in software, which
/// read what is being written; where there are hardware transactions, there are none, and the
/// compiler may keep fields in registers across a write.
template <class Lock, bool Watched>
class direct_tx {
 public:
  template <class T>
  [[gnu::always_inline]] std::remove_const_t<T> read(const T& x) {
    return x;
  }

  template <class T>
  [[gnu::always_inline]] void write(T& x, const std::type_identity_t<T>& value) {
    if constexpr (Watched)
      detail::store_shared(x, value);
    else
      x = value;
  }

  template <class T, class... Args>
  T* allocate(Args&&... args) {
    return new T(std::forward<Args>(args)...);
  }

  template <class T>
  void retire(T* object) {
    if constexpr (!Watched) {
      if (section_.is_in_joined())  // it is undone with all that is open
        delete object;
      else  // a transaction may yet abort
        on_commit([object] { delete object; });
    } else if (lock_.may_have_speculators()) {
      reclamation::retire(object, [](void* p) { delete static_cast<T*>(p); });
    } else {  // nobody has ever read without the lock
      delete object;
    }
  }

  template <class F>
  void on_commit(F&& f) {
    section_.defer(nullptr, std::forward<F>(f));
  }

  direct_tx(Lock& lock, detail::section_context& section) noexcept
      : lock_(lock), section_(section) {}

 private:
  Lock& lock_;
  detail::section_context& section_;
};

namespace detail {

/// The closure depth as a scope; at the outermost end it runs what was put off.
class closure_scope {
 public:
  explicit closure_scope(section_context& section) noexcept : section_(section) {
    section_.enter_closure();
  }
  ~closure_scope() {
    section_.leave_closure();
    section_.run_deferred_if_outermost();
  }
  closure_scope(const closure_scope&) = delete;
  closure_scope& operator=(const closure_scope&) = delete;

 private:
  section_context& section_;
};

/// Calls `act`, which must not throw, at the end of its scope.
template <class Act>
class at_end {
 public:
  explicit at_end(Act act) noexcept : act_(act) {}
  ~at_end() { act_(); }
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;

 private:
  Act act_;
};

/// One static object for each lock type and closure type, which is to say for each elide() in the
/// text.
template <class Lock, class Body>
inline constinit call_site site_of{};

/// With the lock held for real, which ends with it.
template <class Result, bool Watched, class Lock, class Body>
[[gnu::always_inline]] inline Result run_held(Lock& lock, Body& body, section_context& section) {
  const at_end release([&] { lock.unlock_held(); });
  direct_tx<Lock, Watched> tx(lock, section);
  return body(tx);
}

/// Ends an outermost closure that ran with the lock held and put something off.
template <class Lock>
[[gnu::noinline]] void leave_with_actions(Lock& lock, section_context& section) {
  lock.unlock_held();
  section.leave_closure();
  section.run_deferred_if_outermost();
}

/// In a transaction or, if the policy says so, under the lock. `id` is that of `row`.
template <class Result, class Lock, class Body>
[[gnu::noinline]] Result run_elided(Lock& lock, Body& body, section_context& section,
                                    thread_row& row, row_id id, path chosen) {
  const closure_scope scope(section);
  lock.lock_by_policy(row, id, chosen);
  const at_end leave([&] { lock.unlock_by_policy(chosen); });
  direct_tx<Lock, false> tx(lock, section);
  return body(tx);
}

/// What the paths that are not inlined get: a copy of a small closure that nobody sees afterwards.
/// So its address does not leave elide(), and on the inlined path what it captures by value stays
/// in registers across the lock's atomic instructions (10 % of a section of 20 ns).
template <class Body>
using body_aside =
    std::conditional_t<!std::is_lvalue_reference_v<Body> && std::is_trivially_copyable_v<Body> &&
                           sizeof(std::remove_reference_t<Body>) <= 64,
                       std::remove_const_t<Body>, std::remove_reference_t<Body>&>;

/// Storage for a result that the body constructs inside attempt().
template <class Result>
class result_slot {
 public:
  void* place() noexcept { return storage_; }
  Result take() {
    Result* const result = std::launder(reinterpret_cast<Result*>(storage_));
    struct destroyer {
      Result* target;
      ~destroyer() { target->~Result(); }
    } const destroy{result};
    return std::move(*result);
  }

 private:
  alignas(Result) unsigned char storage_[sizeof(Result)];
};

template <>
class result_slot<void> {
 public:
  void* place() noexcept { return nullptr; }
  void take() noexcept {}
};

/// How a section of a lock of `lock_row` that begins now, outside of transactions, is to run. `row`
/// has counted `sections`.
template <class Lock>
[[gnu::always_inline]] inline path path_for(row_id lock_row, thread_row& row,
                                            std::uint64_t sections) {
  using policy_type = typename Lock::policy_type;
  constexpr software_use use = software_use_of<policy_type>();
  if constexpr (requires { policy_type::way; })
    if (Lock::backend::available()) return policy_type::way;
  if constexpr (!is_measured<policy_type>())
    if (Lock::backend::available()) return path::speculative;
  if constexpr (use != software_use::measured)
    if (!Lock::backend::available())
      return use == software_use::always ? path::speculative : path::direct;
  return path_choice::of(lock_row).choose(
      row, sections, [] { return joins_closures<policy_type> && Lock::backend::available(); });
}

/// Attempts a speculation a few times. True: done, the result is in `slot`.
template <class Result, class Lock, class Body>
[[gnu::noinline]] bool run_speculatively(Lock& lock, Body& body, section_context& section,
                                         thread_row& row, result_slot<Result>& slot) {
  using statistics::counter;
  constexpr unsigned attempts = 4;
  constexpr unsigned looks = 40;  // at a lock that is held, before queueing for it
  const reclamation::stretch nothing_is_freed;
  for (unsigned attempt = 1; attempt <= attempts; ++attempt) {
    for (unsigned i = 0; lock.sequence() % 2 != 0; ++i) {
      if (i == looks) return false;
      cpu_relax();
    }
    row.add(counter::software_started);
    speculative_tx<Lock> tx(lock, section);
    if (tx.template run<Result>(body, slot.place())) {
      row.add(counter::software_committed);
      return true;
    }
    row.add(counter::software_aborted);
    for (std::uint32_t n = policy::detail::random_below(2u << attempt); n > 0; --n) cpu_relax();
  }
  return false;
}

/// How a section outside of hardware transactions begins.
enum class start : std::uint8_t {
  locking,      ///< takes the lock
  speculating,  ///< in software, and takes the lock if that does not succeed
  locked,       ///< has just taken the lock by lock_plainly(), which has returned false
};

/// Not in a hardware transaction.
template <class Result, bool Watched, class Lock, class Body>
[[gnu::noinline]] Result run_unelided(Lock& lock, Body& body, section_context& section,
                                      thread_row& row, start how) {
  const closure_scope scope(section);
  row.add(statistics::counter::sections);
  if constexpr (Watched && software_use_of<typename Lock::policy_type>() != software_use::never) {
    if (how == start::speculating && lock.keeps_sequence()) {
      result_slot<Result> slot;
      if (run_speculatively<Result>(lock, body, section, row, slot)) return slot.take();
      row.add(statistics::counter::fallbacks);
    }
  }
  // Only an owner may turn speculation on and off. Off, its owners have nothing to do for it.
  if (how == start::locked)
    lock.begin_closure(false);
  else
    lock.lock_for_closure(how == start::speculating);
  return run_held<Result, Watched>(lock, body, section);
}

/// What can be said of a section before its body is looked at.
struct beginning {
  thread_row* row;
  path how;
};

/// Chooses for a section of which nothing is known but its call site. Ends speculation that it
/// would be nested in. Not inlined, so that it stands in a program once for each lock type.
template <class Lock>
[[gnu::noinline]] beginning begin_otherwise(Lock& lock, section_context& section, call_site& site,
                                            const source_place where) {
  thread_row& row = this_thread_row(site.row_for(lock.row(), where));
  const path how = path_for<Lock>(lock.row(), row, row.count(statistics::counter::sections));
  if (section.speculation() != nullptr) section.speculation()->become_exclusive();
  return {&row, how};
}

/// A section that is nested, the first one of its call site, or of another lock than the last one,
/// where there are no hardware transactions.
template <class Result, class Lock, class Body>
[[gnu::noinline]] Result run_otherwise(Lock& lock, Body& body, section_context& section,
                                       const source_place where) {
  const beginning begun = begin_otherwise(lock, section, site_of<Lock, Body>, where);
  return run_unelided<Result, true>(
      lock, body, section, *begun.row,
      begun.how == path::direct ? start::locking : start::speculating);
}

/// Under the lock, in the usual case: outside of other sections, and a lock of the expected name.
/// `row` has counted `sections`.
template <class Result, bool Watched, class Lock, class Body>
[[gnu::always_inline]] inline Result run_direct(Lock& lock, Body& body, section_context& section,
                                                call_site::rows rows, thread_row& row,
                                                std::uint64_t sections, const source_place where) {
  if (!lock.lock_plainly(rows.lock)) [[unlikely]] {
    body_aside<Body> aside = body;
    return run_unelided<Result, Watched>(
        lock, aside, section,
        row_of(site_of<Lock, std::remove_reference_t<Body>>, lock.row(), where), start::locked);
  }
  row.set(statistics::counter::sections, sections + 1);
  section.enter_outermost_closure();
  const at_end leave([&] {
    if (!section.is_in_plain_closure()) [[unlikely]]
      return leave_with_actions(lock, section);
    lock.unlock_plainly();  // first: others wait for that
    section.leave_plain_closure();
  });
  direct_tx<Lock, Watched> tx(lock, section);
  return body(tx);
}

/// Where there are hardware transactions. Not inlined: with its bodies beside it, compilers no
/// longer inline the one that runs where there are none (15 % of a section of 20 ns).
template <class Result, class Lock, class Body>
[[gnu::noinline]] Result run_on_hardware(Lock& lock, Body& body, section_context& section,
                                         const source_place where) {
  call_site& site = site_of<Lock, Body>;
  path chosen = path::speculative;
  if (section.is_outside()) {
    call_site::rows rows = site.last();
    if (rows.own == 0) [[unlikely]]
      rows = {lock.row(), site.row_for(lock.row(), where)};
    thread_row& row = this_thread_row(rows.own);
    const std::uint64_t sections = row.count(statistics::counter::sections);
    chosen = path_for<Lock>(rows.lock, row, sections);
    if (chosen <= path::direct)  // undecided: another thread is deciding
      return run_direct<Result, false, Lock, Body&>(lock, body, section, rows, row, sections,
                                                    where);
  } else if (joins_closures<typename Lock::policy_type> && lock.is_joinable(section)) {
    const auto entered = section.enter_joined(&lock, site.row_for(lock.row(), where));
    const at_end leave([&] { section.leave_joined(entered); });
    direct_tx<Lock, false> tx(lock, section);
    return body(tx);
  }
  const row_id id = site.row_for(lock.row(), where);
  return run_elided<Result>(lock, body, section, this_thread_row(id), id, chosen);
}

}  // namespace detail

/// Runs `body(tx)` as a critical section of `lock` and returns what it returns (by value; not a
/// reference, which would leave the section). `lock` is an elided<> that the calling thread does
/// not hold. Actions put off with tx.on_commit() and tx.retire() run at the end of the outermost
/// closure.
///
/// Capture small things by value: what is captured by reference is read from memory again once the
/// lock is held.
///
/// Cost beyond the body, uncontended and without hardware transactions: about that of the lock; a
/// body that only reads writes no shared line.
template <class Lock, class Body>
auto elide(Lock& lock, Body&& body, const source_place where = source_place::current()) {
  using body_type = std::remove_reference_t<Body>;
  using result = std::invoke_result_t<body_type&, direct_tx<Lock, true>&>;
  static_assert(!std::is_reference_v<result>, "the body returns a reference out of its section");
  static_assert(!std::is_nothrow_invocable_v<body_type&, speculative_tx<Lock>&>,
                "an abort leaves the body by unwinding: it must not be noexcept");

  detail::section_context& section = detail::this_section();
  if (Lock::backend::available()) [[unlikely]] {
    detail::body_aside<Body> aside = body;
    return detail::run_on_hardware<result>(lock, aside, section, where);
  }
  // A call site nearly always meets locks of one name, so it is taken for granted that this lock
  // has the name of the last one; if it has not, this section runs by the other name's choice.
  const auto rows = detail::site_of<Lock, body_type>.last();
  if (section.is_outside() && rows.own != 0) [[likely]] {
    detail::thread_row& row = detail::this_thread_row(rows.own);
    const std::uint64_t sections = row.count(statistics::counter::sections);
    if (detail::path_for<Lock>(rows.lock, row, sections) == detail::path::direct) [[likely]]
      return detail::run_direct<result, true, Lock, Body>(lock, body, section, rows, row, sections,
                                                          where);
    if (lock.row() == rows.lock) {  // chosen already
      detail::body_aside<Body> aside = body;
      return detail::run_unelided<result, true>(lock, aside, section, row,
                                                detail::start::speculating);
    }
  }
  detail::body_aside<Body> aside = body;
  return detail::run_otherwise<result>(lock, aside, section, where);
}

}  // namespace unlatch
