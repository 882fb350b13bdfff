// SPDX-License-Identifier: Apache-2.0
//
// A spin lock elided by the prefixes XACQUIRE and XRELEASE, as in Schrimpf 2014, listing 2.20.
#pragma once

#include <cstdint>

#include "unlatch/htm.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {

/// Test-and-test-and-set with prefixes; where this build has none it is a plain lock, but its only
/// mode does not run there.
class alignas(cache_line) prefix_lock {
 public:
  void lock() {
    while (exchange() != 0) {
      do {
        cpu_relax();
      } while (static_cast<volatile std::uint32_t&>(word_) != 0);
    }
  }
  void unlock() { store(*this); }

 private:
  template <class Htm = htm::hardware>
  std::uint32_t exchange() {
    if constexpr (requires { Htm::exchange_elided(word_, 1); }) {
      return Htm::exchange_elided(word_, 1);
    } else {
      return __atomic_exchange_n(&word_, 1U, __ATOMIC_ACQUIRE);
    }
  }
  template <class Lock, class Htm = htm::hardware>
  static void store(Lock& lock) {
    if constexpr (requires { Htm::store_elided(lock.word_, 0); }) {
      Htm::store_elided(lock.word_, 0);
    } else {
      __atomic_store_n(&lock.word_, 0U, __ATOMIC_RELEASE);
    }
  }

  std::uint32_t word_ = 0;
};

}  // namespace unlatch::studies
