// SPDX-License-Identifier: Apache-2.0
//
// list: an ordered map as a doubly linked list, for few keys. A section's footprint grows with the
// number of nodes that it walks past, which makes long lists the hard case for every kind of
// speculation.
//
// Thread safety: list: any member but the destructor from any thread; one lock protects everything
// (elided_map.hpp). basic_list: the caller's section.
//
// Invariants
//   1. Keys ascend along next, strictly.
//   2. n->next->previous == n and n->previous->next == n for each link n, the end's included: the
//      list is a ring through end_, which is no node.
//   3. A node's key never changes once the node is linked, so it is read without `tx`. A node that
//      was unlinked keeps its links: a speculation that stands on it reads on and then fails.
//
// What a section reads and writes: find reads next of every node up to the key. insert and erase do
// so first, then write two links, those of the neighbours. insert_or_assign writes only the value
// of a key that is there. What finds nothing to do writes nothing. front() and back() read one
// node.
//
// Progress: that of the lock. Cost: O(n); a node is two links, the key and the value.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>

#include "unlatch/elided.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/structures/elided_map.hpp"
#include "unlatch/structures/map_entry.hpp"

namespace unlatch {

/// The sequential algorithm. `Tx` is what a body of elide() gets, or plain_tx. K and V are
/// trivially copyable; Less is a strict weak order of K.
template <class K, class V, class Less = std::less<K>>
class basic_list {
  static_assert(std::is_trivially_copyable_v<K> && std::is_trivially_copyable_v<V>,
                "tx.read() copies keys and values while they may be changing");

 public:
  using key_type = K;
  using mapped_type = V;
  static constexpr std::string_view name = "list";

  explicit basic_list(Less less = {}) : less_(less) {}
  basic_list(const basic_list&) = delete;
  basic_list& operator=(const basic_list&) = delete;
  /// Nobody else may use the list any more.
  ~basic_list() {
    for (link* n = end_.next; n != &end_;) {
      link* const following = n->next;
      delete as_node(n);
      n = following;
    }
  }

  /// The value of `key`, if it is there.
  template <class Tx>
  std::optional<V> find(Tx& tx, const K& key) const {
    const link* const n = not_less(tx, key);
    if (!has_key(n, key)) return std::nullopt;
    return tx.read(as_node(n)->value);
  }

  /// Adds `key` with `value`; false if it is there already.
  template <class Tx>
  bool insert(Tx& tx, const K& key, const V& value) {
    link* const n = not_less(tx, key);
    if (has_key(n, key)) return false;
    insert_before(tx, n, key, value);
    return true;
  }

  /// Gives `key` the value `value`; true if the key was not there before.
  template <class Tx>
  bool insert_or_assign(Tx& tx, const K& key, const V& value) {
    link* const n = not_less(tx, key);
    if (has_key(n, key)) {
      tx.write(as_node(n)->value, value);
      return false;
    }
    insert_before(tx, n, key, value);
    return true;
  }

  /// Removes `key`; false if it is not there.
  template <class Tx>
  bool erase(Tx& tx, const K& key) {
    link* const n = not_less(tx, key);
    if (!has_key(n, key)) return false;
    link* const previous = tx.read(n->previous);
    link* const next = tx.read(n->next);
    tx.write(previous->next, next);
    tx.write(next->previous, previous);
    tx.retire(as_node(n));
    return true;
  }

  /// The entry with the least key, if there is any.
  template <class Tx>
  std::optional<map_entry<K, V>> front(Tx& tx) const {
    return entry_at(tx, tx.read(end_.next));
  }
  /// The entry with the greatest key, if there is any.
  template <class Tx>
  std::optional<map_entry<K, V>> back(Tx& tx) const {
    return entry_at(tx, tx.read(end_.previous));
  }

  /// The number of keys; walks over all of them.
  template <class Tx>
  std::size_t size(Tx& tx) const {
    std::size_t count = 0;
    for (const link* n = tx.read(end_.next); n != &end_; n = tx.read(n->next)) ++count;
    return count;
  }

  /// Calls `f(key, value)` for each key in ascending order.
  template <class Tx, class F>
  void for_each(Tx& tx, F&& f) const {
    for (const link* n = tx.read(end_.next); n != &end_; n = tx.read(n->next))
      f(as_node(n)->key, tx.read(as_node(n)->value));
  }

  /// The first invariant that does not hold, in words. O(n).
  template <class Tx>
  std::optional<std::string_view> violated_invariant(Tx& tx) const {
    const link* n = &end_;
    do {
      const link* const next = tx.read(n->next);
      if (tx.read(next->previous) != n)
        return "list, invariant 2: a link's successor has another predecessor";
      if (n != &end_ && next != &end_ && !less_(as_node(n)->key, as_node(next)->key))
        return "list, invariant 1: a key is not greater than the one before it";
      n = next;
    } while (n != &end_);
    return std::nullopt;
  }

 private:
  struct link {
    link* next;
    link* previous;
  };
  struct node : link {
    node(link* next, link* previous, const K& k, const V& v)
        : link{next, previous}, key(k), value(v) {}
    const K key;
    V value;
  };

  static node* as_node(link* n) noexcept { return static_cast<node*>(n); }
  static const node* as_node(const link* n) noexcept { return static_cast<const node*>(n); }

  /// The first link whose key is not less than `key`, or the end.
  template <class Tx>
  link* not_less(Tx& tx, const K& key) const {
    link* n = tx.read(end_.next);
    while (n != &end_ && less_(as_node(n)->key, key)) n = tx.read(n->next);
    return n;
  }

  /// Whether `n`, which not_less() returned for `key`, has it.
  bool has_key(const link* n, const K& key) const {
    return n != &end_ && !less_(key, as_node(n)->key);
  }

  template <class Tx>
  void insert_before(Tx& tx, link* next, const K& key, const V& value) {
    link* const previous = tx.read(next->previous);
    node* const added = tx.template allocate<node>(next, previous, key, value);
    tx.write(previous->next, static_cast<link*>(added));
    tx.write(next->previous, static_cast<link*>(added));
  }

  template <class Tx>
  std::optional<map_entry<K, V>> entry_at(Tx& tx, const link* n) const {
    if (n == &end_) return std::nullopt;
    return map_entry<K, V>{as_node(n)->key, tx.read(as_node(n)->value)};
  }

  link end_{&end_, &end_};
  [[no_unique_address]] Less less_;
};

/// The concurrent list. `Lock` is an elided<>.
template <class K, class V, class Lock = elided<spin_mutex>, class Less = std::less<K>>
class list : public elided_map<basic_list<K, V, Less>, Lock> {
 public:
  using elided_map<basic_list<K, V, Less>, Lock>::elided_map;

  /// The entry with the least key, if there is any.
  std::optional<map_entry<K, V>> front() const {
    return elide(this->lock_, [&](auto& tx) { return this->map_.front(tx); });
  }
  /// The entry with the greatest key, if there is any.
  std::optional<map_entry<K, V>> back() const {
    return elide(this->lock_, [&](auto& tx) { return this->map_.back(tx); });
  }
};

}  // namespace unlatch
