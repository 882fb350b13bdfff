// SPDX-License-Identifier: Apache-2.0
//
// insert_sequence: hands out the numbers of the keys to insert, and knows up to which number all
// inserts have finished. So a chooser never picks a key that is not in the database yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <vector>

namespace unlatch::ycsb {

/// Thread safety: any member from any thread.
class insert_sequence {
 public:
  /// Keys up to and including `newest` are in the database.
  explicit insert_sequence(std::uint64_t newest) : next_(newest + 1), newest_(newest) {}

  /// The number of a key to insert; each is given out once.
  std::uint64_t next() { return next_.fetch_add(1, std::memory_order_relaxed); }

  /// Says that the key of this number, which next() returned, is in the database.
  void acknowledge(std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    ahead_.push(key);
    std::uint64_t newest = newest_.load(std::memory_order_relaxed);
    while (!ahead_.empty() && ahead_.top() == newest + 1) {
      ahead_.pop();
      ++newest;
    }
    newest_.store(newest, std::memory_order_release);
  }

  /// All keys up to and including this number are in the database.
  std::uint64_t newest() const { return newest_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint64_t> newest_;
  std::mutex mutex_;
  // Acknowledged numbers above newest_ + 1. Protected by mutex_.
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> ahead_;
};

}  // namespace unlatch::ycsb
