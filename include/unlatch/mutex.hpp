// SPDX-License-Identifier: Apache-2.0
//
// mutex: spins briefly, then parks. The default lock: good when sections are of any length and
// threads may outnumber CPUs. Eight bytes. See parking_lock.hpp for states and invariants.
#pragma once

#include "unlatch/parking_lock.hpp"

namespace unlatch {
namespace detail {
struct spin_briefly {
  static constexpr unsigned spin_rounds = 200;
  static constexpr unsigned longest_pause = 1;
  static constexpr unsigned yields = 0;
};
}  // namespace detail

/// A mutual exclusion lock; satisfies Lockable. Not recursive, not fair. Lock and unlock without
/// contention cost one locked instruction (std::mutex: two).
class mutex : public detail::parking_lock<detail::spin_briefly> {};

}  // namespace unlatch
