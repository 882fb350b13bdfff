// SPDX-License-Identifier: Apache-2.0
//
// The loop that every lock is measured in: lock, increment a counter, unlock. One instantiation a
// lock, not inlined anywhere, so that all have the same alignment and the same surroundings.
#pragma once

#include <cstdint>

namespace unlatch::bench {

template <class Lock>
[[gnu::noinline]] void repeat_section(Lock& lock, std::uint64_t& counter, std::uint64_t times) {
  for (; times != 0; --times) {
    lock.lock();
    ++counter;
    lock.unlock();
  }
}

}  // namespace unlatch::bench
