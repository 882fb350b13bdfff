// SPDX-License-Identifier: Apache-2.0
//
// mutex: spins briefly, then parks. The default lock: good when sections are of any length and
// threads may outnumber CPUs. Four bytes. See parking_lock.hpp for states and invariants.
#pragma once

#include "unlatch/parking_lock.hpp"

namespace unlatch {
namespace detail {
struct spin_briefly {
  static constexpr unsigned spin_rounds = 16;
  static constexpr unsigned longest_pause = 128;
  static constexpr unsigned yields = 0;
  static constexpr bool is_woken = true;
};
}  // namespace detail

/// A mutual exclusion lock; satisfies Lockable. Not recursive, not fair. Lock and unlock without
/// contention cost two locked instructions, as std::mutex's do.
class mutex : public detail::parking_lock<detail::spin_briefly> {};

}  // namespace unlatch
