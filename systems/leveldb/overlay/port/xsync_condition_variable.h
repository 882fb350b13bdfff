// SPDX-License-Identifier: Apache-2.0
//
// XSync's condition variable, XCondVar (Chitters, Midvidy, Tsui, section 4.1), to compare with: a
// futex's word that every signal changes, and a wake-up that is put off until the section has
// ended. Unlike unlatch::condition_variable it does not spin before it sleeps, and signals make
// their system call whether somebody sleeps or not.
//
// Thread safety: any member from a section of the lock that it is given.
#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "unlatch/parking.hpp"

namespace leveldb {
namespace port {

class XsyncConditionVariable {
 public:
  /// Ends the section of `lock`, sleeps until a signal, enters it again. May return without one.
  template <class Lock>
  void wait(Lock& lock) {
    const std::uint32_t seen = signals_.load(std::memory_order_seq_cst);
    lock.unlock();
    unlatch::parking::wait(signals_, seen);
    lock.lock();
  }

  template <class Lock>
  void notify_one(Lock& lock) {
    notify(lock, 1);
  }
  template <class Lock>
  void notify_all(Lock& lock) {
    notify(lock, INT_MAX);
  }

 private:
  /// A signal in a transaction shows when that commits. When the wake-up comes, this object may be
  /// gone, since a waiter has seen the change: only the word's address is used, as wake() allows.
  template <class Lock>
  void notify(Lock& lock, int count) {
    signals_.fetch_add(1, std::memory_order_seq_cst);
    lock.on_unlock([word = &signals_, count] { unlatch::parking::wake(word, count); });
  }

  std::atomic<std::uint32_t> signals_{0};
};

}  // namespace port
}  // namespace leveldb
