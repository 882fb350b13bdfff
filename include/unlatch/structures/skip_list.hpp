// SPDX-License-Identifier: Apache-2.0
//
// skip_list: an ordered map; a sorted list whose nodes are also in sparser and sparser lists above
// it, so that a search skips most of them (Pugh, "Skip Lists: A Probabilistic Alternative to
// Balanced Trees", CACM 1990). Inserting and erasing touch neighbours only; nothing is rebalanced.
//
// Thread safety: skip_list: any member but the destructor from any thread; one lock protects
// everything (elided_map.hpp). basic_skip_list: the caller's section.
//
// Invariants
//   1. Keys ascend strictly along every level.
//   2. A node with n levels is in the levels 0 to n - 1: each level is a subset of the one below.
//   3. Levels from levels_ upwards are empty. levels_ never falls.
//   4. A node's key and number of levels never change once the node is linked, so they are read
//      without `tx`. A node that was unlinked keeps its links: a speculation that stands on it
//      reads on and then fails.
//
// What a section reads and writes: find reads about two links a level. insert and erase do so
// first, then write one link for each level of the node: 4/3 on average. insert_or_assign writes
// only the value of a key that is there. What finds nothing to do writes nothing.
//
// Progress: that of the lock. Cost: O(log n) on average; a node is the key, the value, a byte, and
// one link for each level, where the numbers of levels are rounded up to 1, 2, 4 or 12.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>

#include "unlatch/elided.hpp"
#include "unlatch/policy.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/structures/elided_map.hpp"

namespace unlatch {

/// The sequential algorithm. `Tx` is what a body of elide() gets, or plain_tx. K and V are
/// trivially copyable; Less is a strict weak order of K.
template <class K, class V, class Less = std::less<K>>
class basic_skip_list {
  static_assert(std::is_trivially_copyable_v<K> && std::is_trivially_copyable_v<V>,
                "tx.read() copies keys and values while they may be changing");

 public:
  using key_type = K;
  using mapped_type = V;
  static constexpr std::string_view name = "skip_list";
  /// One node in four is in the next level, so this suffices for 4^12 = 16 million keys.
  static constexpr unsigned most_levels = 12;

  explicit basic_skip_list(Less less = {}) : less_(less) {}
  basic_skip_list(const basic_skip_list&) = delete;
  basic_skip_list& operator=(const basic_skip_list&) = delete;
  /// Nobody else may use the list any more.
  ~basic_skip_list() {
    for (node* n = head_[0]; n != nullptr;) {
      node* const following = n->links()[0];
      with_tower(n, [](auto* tower) { delete tower; });
      n = following;
    }
  }

  /// The value of `key`, if it is there.
  template <class Tx>
  std::optional<V> find(Tx& tx, const K& key) const {
    node* const* links = head_.data();
    node* n = nullptr;
    for (unsigned level = tx.read(levels_); level-- > 0;) {
      n = tx.read(links[level]);
      while (n != nullptr && less_(n->key, key)) {
        links = n->links();
        n = tx.read(links[level]);
      }
    }
    if (n == nullptr || less_(key, n->key)) return std::nullopt;
    return tx.read(n->value);
  }

  /// Adds `key` with `value`; false if it is there already.
  template <class Tx>
  bool insert(Tx& tx, const K& key, const V& value) {
    const path way = search(tx, key);
    if (way.found == nullptr) add(tx, way, key, value);
    return way.found == nullptr;
  }

  /// Gives `key` the value `value`; true if the key was not there before.
  template <class Tx>
  bool insert_or_assign(Tx& tx, const K& key, const V& value) {
    const path way = search(tx, key);
    if (way.found == nullptr)
      add(tx, way, key, value);
    else
      tx.write(way.found->value, value);
    return way.found == nullptr;
  }

  /// Removes `key`; false if it is not there.
  template <class Tx>
  bool erase(Tx& tx, const K& key) {
    const path way = search(tx, key);
    if (way.found == nullptr) return false;
    for (unsigned level = 0; level < way.found->levels; ++level)
      tx.write(*way.to[level], tx.read(way.found->links()[level]));
    with_tower(way.found, [&](auto* tower) { tx.retire(tower); });
    return true;
  }

  /// The number of keys; walks over all of them.
  template <class Tx>
  std::size_t size(Tx& tx) const {
    std::size_t count = 0;
    for (node* n = tx.read(head_[0]); n != nullptr; n = tx.read(n->links()[0])) ++count;
    return count;
  }

  /// Calls `f(key, value)` for each key in ascending order.
  template <class Tx, class F>
  void for_each(Tx& tx, F&& f) const {
    for (node* n = tx.read(head_[0]); n != nullptr; n = tx.read(n->links()[0]))
      f(n->key, tx.read(n->value));
  }

  /// The first invariant that does not hold, in words. O(n).
  template <class Tx>
  std::optional<std::string_view> violated_invariant(Tx& tx) const;

 private:
  /// What is the same for every number of levels; the links follow it.
  struct node {
    node(const K& k, const V& v, unsigned n)
        : key(k), value(v), levels(static_cast<std::uint8_t>(n)) {}
    node** links() noexcept { return static_cast<tower<most_levels>*>(this)->link; }
    const K key;
    V value;
    const std::uint8_t levels;
  };
  template <unsigned Capacity>
  struct tower : node {
    using node::node;
    node* link[Capacity] = {};
  };

  /// Calls `f` with `n` as the tower as which it was allocated.
  template <class F>
  static void with_tower(node* n, F&& f) {
    if (n->levels <= 1)
      f(static_cast<tower<1>*>(n));
    else if (n->levels == 2)
      f(static_cast<tower<2>*>(n));
    else if (n->levels <= 4)
      f(static_cast<tower<4>*>(n));
    else
      f(static_cast<tower<most_levels>*>(n));
  }
  template <class Tx>
  static node* allocate(Tx& tx, const K& key, const V& value, unsigned levels) {
    if (levels <= 1) return tx.template allocate<tower<1>>(key, value, levels);
    if (levels == 2) return tx.template allocate<tower<2>>(key, value, levels);
    if (levels <= 4) return tx.template allocate<tower<4>>(key, value, levels);
    return tx.template allocate<tower<most_levels>>(key, value, levels);
  }

  /// The links that lead over `key` in each level below levels_, and its node if it is there.
  struct path {
    std::array<node**, most_levels> to;
    node* found;
    unsigned levels;
  };

  template <class Tx>
  path search(Tx& tx, const K& key) {
    path way;
    way.levels = tx.read(levels_);
    node** links = head_.data();
    node* n = nullptr;
    for (unsigned level = way.levels; level-- > 0;) {
      n = tx.read(links[level]);
      while (n != nullptr && less_(n->key, key)) {
        links = n->links();
        n = tx.read(links[level]);
      }
      way.to[level] = &links[level];
    }
    way.found = n != nullptr && !less_(key, n->key) ? n : nullptr;
    return way;
  }

  template <class Tx>
  void add(Tx& tx, path way, const K& key, const V& value) {
    const unsigned levels = random_levels();
    node* const added = allocate(tx, key, value, levels);
    for (unsigned level = way.levels; level < levels; ++level) way.to[level] = &head_[level];
    for (unsigned level = 0; level < levels; ++level)
      added->links()[level] = tx.read(*way.to[level]);  // nobody sees it yet
    for (unsigned level = 0; level < levels; ++level) tx.write(*way.to[level], added);
    if (levels > way.levels) tx.write(levels_, levels);
  }

  /// n with probability 3/4^n, from a generator of the thread's own.
  static unsigned random_levels() noexcept {
    constexpr std::uint32_t last_bit = std::uint32_t{1} << (2 * most_levels - 2);
    return 1 + std::countr_zero(policy::detail::random_below(last_bit) | last_bit) / 2;
  }

  std::array<node*, most_levels> head_{};
  unsigned levels_ = 1;
  [[no_unique_address]] Less less_;
};

/// The concurrent skip list. `Lock` is an elided<>.
template <class K, class V, class Lock = elided<spin_mutex>, class Less = std::less<K>>
class skip_list : public elided_map<basic_skip_list<K, V, Less>, Lock> {
 public:
  using elided_map<basic_skip_list<K, V, Less>, Lock>::elided_map;
};

// --- definitions
// ----------------------------------------------------------------------------------

template <class K, class V, class Less>
template <class Tx>
std::optional<std::string_view> basic_skip_list<K, V, Less>::violated_invariant(Tx& tx) const {
  std::array<node* const*, most_levels> links;  // where we stand in each level
  for (unsigned level = 0; level < most_levels; ++level) links[level] = &head_[level];
  const node* before = nullptr;
  for (node* n = tx.read(head_[0]); n != nullptr; before = n, n = tx.read(n->links()[0])) {
    if (before != nullptr && !less_(before->key, n->key))
      return "skip_list, invariant 1: a key is not greater than the one before it";
    if (n->levels > tx.read(levels_)) return "skip_list, invariant 3: a node is above levels_";
    for (unsigned level = 0; level < n->levels; ++level) {
      if (tx.read(*links[level]) != n)
        return "skip_list, invariant 2: a level does not lead to a node that belongs to it";
      links[level] = &n->links()[level];
    }
  }
  // Each level led to all of its nodes in order; so it holds no others if it ends here.
  for (unsigned level = 0; level < most_levels; ++level)
    if (tx.read(*links[level]) != nullptr)
      return "skip_list, invariant 2: a level leads to a node that does not belong to it";
  return std::nullopt;
}

}  // namespace unlatch
