// SPDX-License-Identifier: Apache-2.0
//
// elided_map: one lock around a sequential map, so that many threads can use it. list, skip_list
// and red_black_tree are elided_maps.
//
// Thread safety: any member but the destructor from any thread. One lock protects everything.
//
// Invariants
//   1. Every access to the sequential map after construction is inside a section of lock_.
//   2. lock_ has cache lines of its own: who waits for it does not disturb who walks the map, and
//      its owner writes no line that holds the map's entry point.
//
// What a section reads and writes: see the sequential map's header. A member that changes nothing
// (find, size, a failed insert or erase) writes nothing.
//
// Progress: that of the lock; a speculating section that has failed a few times takes it. Cost: one
// elide() a call.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "unlatch/elide.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/structures/map_entry.hpp"

namespace unlatch {

/// `Sequential` is a basic_* map of this folder; `Lock` is an elided<>.
template <class Sequential, class Lock>
class elided_map {
 public:
  using key_type = typename Sequential::key_type;
  using mapped_type = typename Sequential::mapped_type;
  using lock_type = Lock;

  elided_map() : elided_map(Sequential::name) {}
  /// A map whose lock the statistics call `name`.
  explicit elided_map(std::string_view name) : lock_(name) {}

  /// The value of `key`, if it is there.
  std::optional<mapped_type> find(const key_type& key) const {
    return elide(lock_, [this, key](auto& tx) { return map_.find(tx, key); });
  }

  /// Adds `key` with `value`. False, and nothing changed, if the key is there already.
  bool insert(const key_type& key, const mapped_type& value) {
    return elide(lock_, [this, key, value](auto& tx) { return map_.insert(tx, key, value); });
  }

  /// Gives `key` the value `value`. True if the key was not there before.
  bool insert_or_assign(const key_type& key, const mapped_type& value) {
    return elide(lock_,
                 [this, key, value](auto& tx) { return map_.insert_or_assign(tx, key, value); });
  }

  /// Removes `key`. False if it is not there.
  bool erase(const key_type& key) {
    return elide(lock_, [this, key](auto& tx) { return map_.erase(tx, key); });
  }

  /// The number of keys. Walks over all of them: a counter would be a line that every insert and
  /// erase writes.
  std::size_t size() const {
    return elide(lock_, [&](auto& tx) { return map_.size(tx); });
  }

  /// Calls `f(key, value)` for each key in ascending order, as they were at one point in time. The
  /// keys are copied out of the section first, so `f` runs once for each, may throw, and may use
  /// this map.
  template <class F>
  void for_each(F&& f) const {
    std::vector<map_entry<key_type, mapped_type>> entries;
    elide(lock_, [&](auto& tx) {
      entries.clear();
      map_.for_each(tx, [&](const key_type& key, const mapped_type& value) {
        entries.push_back({key, value});
      });
    });
    for (const auto& entry : entries) f(entry.key, entry.value);
  }

  /// The first of the sequential map's invariants that does not hold, in words. For tests: slow.
  std::optional<std::string_view> violated_invariant() const {
    return elide(lock_, [&](auto& tx) { return map_.violated_invariant(tx); });
  }

 protected:
  alignas(cache_line) Sequential map_;
  alignas(cache_line) mutable Lock lock_;
};

}  // namespace unlatch
