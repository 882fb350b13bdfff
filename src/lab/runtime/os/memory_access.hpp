// SPDX-License-Identifier: Apache-2.0
//
// Accesses to the simulated program's memory by the operating system's layer, which the compiler
// pass does not instrument: each tells the machine first, so that it costs, conflicts and is rolled
// back like the program's own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "instrument/hooks.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/scheduler.hpp"

namespace unlatch::lab::os {

/// The instructions around an access, in cycles.
inline constexpr std::uint32_t access_cost = 1;

/// Whether the simulated thread that runs is in a transaction.
inline bool in_transaction() noexcept { return unlatch_lab_fast.in_transaction != 0; }

/// What cannot be undone follows: aborts a running transaction, as a system call does. Otherwise
/// does nothing and takes no time.
inline void leave_transaction() noexcept {
  if (in_transaction()) scheduler::enter_kernel();
}

/// Tells the machine that the bytes will be read (written). Nothing else runs before they are.
inline void will_read(const void* address, std::size_t bytes) noexcept {
  if (bytes != 0) unlatch_lab_range(const_cast<void*>(address), bytes, 0, access_cost);
}
inline void will_write(void* address, std::size_t bytes) noexcept {
  if (bytes != 0) unlatch_lab_range(address, bytes, 1, access_cost);
}

/// A plain variable of the program's.
template <typename T>
T read(const T& variable) noexcept {
  unlatch_lab_read(const_cast<T*>(&variable), sizeof(T), access_cost);
  return variable;
}
template <typename T>
void write(T& variable, T value) noexcept {
  unlatch_lab_write(&variable, sizeof(T), access_cost);
  variable = value;
}

/// An atomic variable of the program's, accessed as the C library does: its operations are atomic
/// because nothing else runs between the machine's return and the access.
template <typename T>
class atomic_word {
 public:
  explicit atomic_word(void* address) noexcept : word_(static_cast<T*>(address)) {}

  T load() const noexcept {
    tell(atomic_operation::load, order::acquire);
    return *word_;
  }
  void store(T value) const noexcept {
    tell(atomic_operation::store, order::release);
    *word_ = value;
  }
  T exchange(T value) const noexcept {
    tell(atomic_operation::exchange, order::sequential);
    const T before = *word_;
    *word_ = value;
    return before;
  }
  T fetch_add(T value) const noexcept {
    tell(atomic_operation::exchange, order::sequential);
    const T before = *word_;
    *word_ = before + value;
    return before;
  }
  T fetch_or(T value) const noexcept {
    tell(atomic_operation::exchange, order::sequential);
    const T before = *word_;
    *word_ = before | value;
    return before;
  }
  T fetch_and(T value) const noexcept {
    tell(atomic_operation::exchange, order::sequential);
    const T before = *word_;
    *word_ = before & value;
    return before;
  }
  bool compare_exchange(T expected, T desired) const noexcept {
    tell(atomic_operation::compare_exchange, order::sequential);
    if (*word_ != expected) return false;
    *word_ = desired;
    return true;
  }
  T* address() const noexcept { return word_; }

 private:
  void tell(atomic_operation what, order how) const noexcept {
    unlatch_lab_atomic(word_, sizeof(T),
                       static_cast<std::uint32_t>(what) | static_cast<std::uint32_t>(how) << 4,
                       access_cost);
  }

  T* word_;
};

using futex_word = atomic_word<std::uint32_t>;

}  // namespace unlatch::lab::os
