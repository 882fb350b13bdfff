// SPDX-License-Identifier: Apache-2.0
//
// spin_mutex: test-and-test-and-set with exponential back-off, then yields, then naps. For
// sections of well under a microsecond with no more threads than CPUs most of the time; it survives
// more threads, because it stops spinning. Four bytes. See parking_lock.hpp for states and
// invariants.
#pragma once

#include "unlatch/parking_lock.hpp"

namespace unlatch {
namespace detail {
struct spin_long {
  static constexpr unsigned spin_rounds = 6;
  static constexpr unsigned longest_pause = 16;
  static constexpr unsigned yields = 16;
  static constexpr bool is_woken = false;
};
}  // namespace detail

/// A mutual exclusion lock for short sections; satisfies Lockable. Not recursive, not fair: a
/// waiter that has spun and yielded in vain, for some 10 us, naps for 50 us or more.
class spin_mutex : public detail::parking_lock<detail::spin_long> {};

}  // namespace unlatch
