// SPDX-License-Identifier: Apache-2.0
//
// counter: a number that threads add to, under a lock. The smallest structure there is: what it
// costs is what a section costs.
//
// Thread safety: counter: any member from any thread; one lock protects the number. basic_counter:
// the caller's section.
//
// Invariants
//   1. The number is its initial value plus the sum of all add()s that have returned and of some of
//      those that have not.
//
// What a section reads and writes: the number, which lies on the lock's own cache line: a section
// needs both, and so moves one line between CPUs instead of two. value() writes nothing.
//
// Progress: that of the lock. Sections of concurrent add()s conflict always.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "unlatch/elide.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/spin_mutex.hpp"

namespace unlatch {

/// The sequential algorithm. `Tx` is what a body of elide() gets, or plain_tx.
template <class T = std::uint64_t>
class basic_counter {
  static_assert(std::is_integral_v<T>, "a counter counts in whole numbers");

 public:
  explicit basic_counter(T initial = 0) noexcept : value_(initial) {}

  template <class Tx>
  T value(Tx& tx) const {
    return tx.read(value_);
  }

  /// Adds `n` and returns what the number was before. Unsigned numbers wrap around.
  template <class Tx>
  T add(Tx& tx, T n) {
    const T before = tx.read(value_);
    tx.write(value_, static_cast<T>(before + n));
    return before;
  }

 private:
  T value_;
};

/// The concurrent counter. `Lock` is an elided<>.
template <class T = std::uint64_t, class Lock = elided<spin_mutex>>
class alignas(cache_line) counter {
 public:
  using value_type = T;
  using lock_type = Lock;

  /// A counter whose lock the statistics call `name`.
  explicit counter(T initial = 0, std::string_view name = "counter")
      : lock_(name), counter_(initial) {}

  /// The number now.
  T value() const {
    return elide(lock_, [&](auto& tx) { return counter_.value(tx); });
  }

  /// Adds `n` and returns what the number was before.
  T add(T n = 1) {
    return elide(lock_, [&](auto& tx) { return counter_.add(tx, n); });
  }

 private:
  mutable Lock lock_;
  basic_counter<T> counter_;
};

}  // namespace unlatch
