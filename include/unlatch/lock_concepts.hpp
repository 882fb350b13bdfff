// SPDX-License-Identifier: Apache-2.0
//
// What elision needs of a lock: the standard Lockable members and a predicate that a transaction
// can read. A lock knows nothing else of elision.
#pragma once

#include <concepts>

namespace unlatch {

/// lock(), try_lock(), unlock(), and is_free(): nobody holds the lock in any mode.
template <class L>
concept elidable = requires(L& lock, const L& seen) {
  lock.lock();
  { lock.try_lock() } -> std::convertible_to<bool>;
  lock.unlock();
  { seen.is_free() } -> std::convertible_to<bool>;
};

/// Also the shared mode, and is_write_free(): nobody holds the lock exclusively.
template <class L>
concept shared_elidable = elidable<L> && requires(L& lock, const L& seen) {
  lock.lock_shared();
  { lock.try_lock_shared() } -> std::convertible_to<bool>;
  lock.unlock_shared();
  { seen.is_write_free() } -> std::convertible_to<bool>;
};

}  // namespace unlatch
