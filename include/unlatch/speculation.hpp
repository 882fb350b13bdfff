// SPDX-License-Identifier: Apache-2.0
//
// Software speculation: sequence-validated reads with upgrade. A section runs without the lock;
// every read checks that no writer has come since it began; the first write takes the lock and the
// rest runs in place. Nothing is buffered, and nothing aborts after the first write.
//
// How an abort leaves the body. A jump back to the beginning costs 16 ns and skips destructors; an
// exception costs 1300 ns and runs them (medians on the machine of docs/costs.md). We jump only
// where that skips nothing, and know it from the compiler's own tables: abandon() looks up the
// address that it returns to in the language-specific data of its function. No landing pad there
// means no live object with a destructor and no handler. The call must also come straight from the
// frame of attempt(), which is flattened, so that no frame lies between. Otherwise it throws. The
// answer is a property of the code address and is remembered.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "unlatch/access.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/reclamation.hpp"
#include "unlatch/section.hpp"

namespace unlatch {
namespace detail {

/// Thrown through a body whose speculation has failed. Not a std::exception, so that handlers for
/// those do not see it; a body that swallows it with catch (...) fails again at its next access or
/// at its end.
struct speculation_aborted {};

/// The part of a speculation that does not depend on the lock's type.
class speculation {
 public:
  speculation(const speculation&) = delete;
  speculation& operator=(const speculation&) = delete;

  /// Leaves the body: nothing it did is to be seen. See the head of the file.
  [[noreturn, gnu::noinline, gnu::cold]] void abandon();

  /// Whether the body has the lock and can no longer abort.
  bool is_exclusive() const noexcept { return exclusive_; }

  /// Takes the lock before something that could not be undone; abandons if that is too late.
  virtual void become_exclusive() = 0;

 protected:
  /// No lock has this sequence: even sequences are validated, and this is odd.
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  explicit speculation(section_context& section) noexcept
      : section_(section), deferred_before_(section.deferred_count()) {}
  ~speculation() = default;

  /// Undoes what the body asked for: frees its allocations, forgets its deferred actions.
  void undo() noexcept;

  /// Runs `body(tx)` and puts its result into `result`. False: abandoned by a jump.
  template <class Tx, class Body, class Result>
#if !UNLATCH_ADDRESS_SANITIZER && !UNLATCH_THREAD_SANITIZER  // there, aborts throw anyway
  [[gnu::flatten]]
#endif
  [[gnu::noinline]] static bool
  attempt(Tx& tx, Body& body, void* result);

  struct allocation {
    void* object;
    void (*deleter)(void*);
  };

  section_context& section_;
  std::uint64_t snapshot_ = never;  ///< what sequence() must be; the odd one, once exclusive
  bool exclusive_ = false;
  bool abandoned_ = false;
  std::uint8_t allocation_count_ = 0;
  std::size_t deferred_before_;
  std::array<allocation, 8> allocations_;
  void* stack_ = nullptr;  ///< the stack pointer of attempt()
  void* resume_[5];        ///< where abandon() jumps to
};

/// The stack pointer of the calling function's frame.
[[gnu::always_inline]] inline void* stack_pointer() noexcept {
  void* sp = nullptr;
#if defined(__x86_64__)
  asm volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
  asm volatile("mov %0, sp" : "=r"(sp));
#endif
  return sp;
}

template <class Tx, class Body, class Result>
bool speculation::attempt(Tx& tx, Body& body, void* result) {
  // This frame must have no destructors of its own: each would be a landing pad.
  if (__builtin_setjmp(tx.resume_) != 0) return false;
  tx.stack_ = stack_pointer();
  if constexpr (std::is_void_v<Result>)
    body(tx);
  else
    ::new (result) Result(body(tx));
  return true;
}

}  // namespace detail

/// What a body gets when it runs without the lock, for a lock of type `Lock` (an elided<>).
///
/// A body may hold anything: an abort runs its destructors. It must not be noexcept, nor call
/// accesses from a noexcept function (an abort would terminate), and what it does other than
/// through `tx` must be harmless when repeated.
template <class Lock>
class speculative_tx final : public detail::speculation {
 public:
  /// The value of `x`, which was the value at one point in time together with all values read
  /// before. Cost: the load, and a check of a line that is usually in the cache.
  template <class T>
  [[gnu::always_inline]] std::remove_const_t<T> read(const T& x) {
    const auto value = detail::load_shared(x);
    if (!lock_.sequence_is(snapshot_)) [[unlikely]]
      abandon();
    return value;
  }

  /// Sets `x`. The first write takes the lock.
  template <class T>
  [[gnu::always_inline]] void write(T& x, const std::type_identity_t<T>& value) {
    if (!exclusive_) become_exclusive();
    detail::store_shared(x, value);
  }

  /// A new T, freed again if this attempt is undone.
  template <class T, class... Args>
  T* allocate(Args&&... args) {
    if (!exclusive_ && allocation_count_ == allocations_.size()) become_exclusive();
    T* const object = new T(std::forward<Args>(args)...);
    if (!exclusive_)
      allocations_[allocation_count_++] = {object, [](void* p) { delete static_cast<T*>(p); }};
    return object;
  }

  /// Deletes `object`, which this section has unlinked before, once nobody can see it any more.
  template <class T>
  void retire(T* object) {
    become_exclusive();  // it is, if the section has unlinked anything
    reclamation::retire(object, [](void* p) { delete static_cast<T*>(p); });
  }

  /// Runs `f` after the outermost section has ended; not if this attempt is undone. It must not
  /// throw.
  template <class F>
  void on_commit(F&& f) {
    section_.defer(nullptr, std::forward<F>(f));
  }

  // --- for elide() ------------------------------------------------------------------------------

  speculative_tx(Lock& lock, detail::section_context& section) noexcept
      : speculation(section), lock_(lock) {}

  /// Runs the body. True: it completed, and its result is in `result`. False: nothing happened.
  /// Throws what the body throws; then what it did stays, as under a lock.
  template <class Result, class Body>
  bool run(Body& body, void* result) {
    snapshot_ = lock_.sequence();
    if (snapshot_ % 2 != 0) return false;
    section_.set_speculation(this);
    bool completed = false;
    try {
      completed = attempt<speculative_tx, Body, Result>(*this, body, result) && !abandoned_;
    } catch (const detail::speculation_aborted&) {
    } catch (...) {
      section_.set_speculation(nullptr);
      if (exclusive_) lock_.unlock_held();
      if (!abandoned_) throw;
    }
    section_.set_speculation(nullptr);
    if (exclusive_)
      lock_.unlock_held();
    else if (!completed)
      undo();
    return completed;
  }

  void become_exclusive() override {
    if (exclusive_) return;
    if (!lock_.upgrade(snapshot_)) abandon();
    ++snapshot_;
    exclusive_ = true;
    section_.set_speculation(nullptr);
  }

 private:
  friend detail::speculation;

  Lock& lock_;
};

}  // namespace unlatch
