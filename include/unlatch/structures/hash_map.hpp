// SPDX-License-Identifier: Apache-2.0
//
// hash_map: a map with a fixed number of buckets, each a singly linked chain.
//
// Thread safety: any member but the destructor from any thread. One lock protects everything; or
// each of several locks a group of neighbouring buckets.
//
// Invariants
//   1. A key is in the chain of the bucket that its hash selects, and in no chain twice.
//   2. A node's key never changes once the node is linked, so it is read without `tx`. A node that
//      was unlinked keeps its next: a speculation that stands on it reads on and then fails.
//   3. The number of buckets is a multiple of the number of locks; bucket b belongs to lock
//      b / (buckets / locks).
//
// What a section reads and writes: find reads the chain up to the key. insert also writes the
// bucket, erase the link to the node, insert_or_assign the value of a key that is there; these are
// their only writes, and come last. What finds nothing to do writes nothing.
//
// Progress: that of the lock. Cost: two multiplications and a chain of size()/buckets nodes on
// average; a node is the key, a pointer and the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "unlatch/elide.hpp"
#include "unlatch/platform.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/structures/map_entry.hpp"

namespace unlatch {

/// The sequential algorithm. `Tx` is what a body of elide() gets, or plain_tx. K and V are
/// trivially copyable, and K has ==.
template <class K, class V, class Hash = std::hash<K>>
class basic_hash_map {
  static_assert(std::is_trivially_copyable_v<K> && std::is_trivially_copyable_v<V>,
                "tx.read() copies keys and values while they may be changing");

 public:
  using key_type = K;
  using mapped_type = V;

  /// Requires buckets > 0; else throws std::invalid_argument.
  explicit basic_hash_map(std::size_t buckets, Hash hash = {})
      : bucket_count_(buckets), hash_(std::move(hash)) {
    if (buckets == 0)
      throw std::invalid_argument("hash_map: 0 buckets; give it at least one, best one per key");
    buckets_ = std::make_unique<node*[]>(buckets);
  }
  basic_hash_map(const basic_hash_map&) = delete;
  basic_hash_map& operator=(const basic_hash_map&) = delete;
  /// Nobody else may use the map any more.
  ~basic_hash_map() {
    for (std::size_t i = 0; i < bucket_count_; ++i)
      for (const node* n = buckets_[i]; n != nullptr;) delete std::exchange(n, n->next);
  }

  std::size_t bucket_count() const noexcept { return bucket_count_; }
  /// Which of `parts` equal groups of buckets `key` is in.
  std::size_t part_of(const K& key, std::size_t parts) const { return scale(spread(key), parts); }

  template <class Tx>
  std::optional<V> find(Tx& tx, const K& key) const {
    for (const node* n = tx.read(bucket(key)); n != nullptr; n = tx.read(n->next))
      if (n->key == key) return tx.read(n->value);
    return std::nullopt;
  }

  template <class Tx>
  bool insert(Tx& tx, const K& key, const V& value) {
    node*& first_link = bucket(key);
    node* const first = tx.read(first_link);
    if (node_in(tx, first, key) != nullptr) return false;
    tx.write(first_link, tx.template allocate<node>(key, value, first));
    return true;
  }

  template <class Tx>
  bool insert_or_assign(Tx& tx, const K& key, const V& value) {
    node*& first_link = bucket(key);
    node* const first = tx.read(first_link);
    if (node* const found = node_in(tx, first, key)) {
      tx.write(found->value, value);
      return false;
    }
    tx.write(first_link, tx.template allocate<node>(key, value, first));
    return true;
  }

  template <class Tx>
  bool erase(Tx& tx, const K& key) {
    node** link = &bucket(key);
    node* n = tx.read(*link);
    while (n != nullptr && !(n->key == key)) {
      link = &n->next;
      n = tx.read(*link);
    }
    if (n == nullptr) return false;
    tx.write(*link, tx.read(n->next));
    tx.retire(n);
    return true;
  }

  /// The number of keys in the buckets [first, last).
  template <class Tx>
  std::size_t size(Tx& tx, std::size_t first, std::size_t last) const {
    std::size_t count = 0;
    for (; first < last; ++first)
      for (const node* n = tx.read(buckets_[first]); n != nullptr; n = tx.read(n->next)) ++count;
    return count;
  }

  /// Calls `f(key, value)` for each key in the buckets [first, last), in no order.
  template <class Tx, class F>
  void for_each(Tx& tx, std::size_t first, std::size_t last, F&& f) const {
    for (; first < last; ++first)
      for (const node* n = tx.read(buckets_[first]); n != nullptr; n = tx.read(n->next))
        f(n->key, tx.read(n->value));
  }

  template <class Tx>
  std::optional<std::string_view> violated_invariant(Tx& tx, std::size_t first,
                                                     std::size_t last) const {
    for (; first < last; ++first)
      for (const node* n = tx.read(buckets_[first]); n != nullptr; n = tx.read(n->next)) {
        if (&bucket(n->key) != &buckets_[first])
          return "hash_map, invariant 1: a key is in another bucket than its hash selects";
        if (node_in(tx, tx.read(n->next), n->key) != nullptr)
          return "hash_map, invariant 1: a key is in its chain twice";
      }
    return std::nullopt;
  }

  // The same for all buckets.
  template <class Tx>
  std::size_t size(Tx& tx) const {
    return size(tx, 0, bucket_count_);
  }
  template <class Tx, class F>
  void for_each(Tx& tx, F&& f) const {
    for_each(tx, 0, bucket_count_, std::forward<F>(f));
  }
  template <class Tx>
  std::optional<std::string_view> violated_invariant(Tx& tx) const {
    return violated_invariant(tx, 0, bucket_count_);
  }

 private:
  struct node {
    node(const K& k, const V& v, node* following) : key(k), next(following), value(v) {}
    const K key;
    node* next;
    V value;
  };

  template <class Tx>
  static node* node_in(Tx& tx, node* n, const K& key) {
    while (n != nullptr && !(n->key == key)) n = tx.read(n->next);
    return n;
  }

  /// The hash with its entropy in the upper bits, where scale() looks: std::hash of an integer is
  /// the integer. The factor is 2^64 divided by the golden ratio.
  std::uint64_t spread(const K& key) const {
    return std::uint64_t{hash_(key)} * 0x9e3779b97f4a7c15;
  }
  /// floor(x * n / 2^64): like x % n, but without a division, and such that a multiple of n makes
  /// equal groups of neighbours (invariant 3).
  static std::size_t scale(std::uint64_t x, std::size_t n) noexcept {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::size_t>(wide{x} * n >> 64);
  }
  node*& bucket(const K& key) const { return buckets_[scale(spread(key), bucket_count_)]; }

  std::unique_ptr<node*[]> buckets_;
  std::size_t bucket_count_;
  [[no_unique_address]] Hash hash_;
};

/// The concurrent map. `Lock` is an elided<>.
template <class K, class V, class Lock = elided<spin_mutex>, class Hash = std::hash<K>>
class hash_map {
 public:
  using key_type = K;
  using mapped_type = V;
  using lock_type = Lock;

  /// At least `buckets` buckets (as many more as make their number a multiple of `locks`) under
  /// `locks` locks, which the statistics call `name`. Both more than 0; else throws
  /// std::invalid_argument.
  explicit hash_map(std::size_t buckets, std::size_t locks = 1, std::string_view name = "hash_map",
                    Hash hash = {})
      : map_(rounded_up(buckets, locks), std::move(hash)), latches_(latches(locks, name)) {}

  /// The value of `key`, if it is there.
  std::optional<V> find(const K& key) const {
    return elide(lock_of(key), [this, key](auto& tx) { return map_.find(tx, key); });
  }

  /// Adds `key` with `value`. False, and nothing changed, if the key is there already.
  bool insert(const K& key, const V& value) {
    return elide(lock_of(key),
                 [this, key, value](auto& tx) { return map_.insert(tx, key, value); });
  }

  /// Gives `key` the value `value`. True if the key was not there before.
  bool insert_or_assign(const K& key, const V& value) {
    return elide(lock_of(key),
                 [this, key, value](auto& tx) { return map_.insert_or_assign(tx, key, value); });
  }

  /// Removes `key`. False if it is not there.
  bool erase(const K& key) {
    return elide(lock_of(key), [this, key](auto& tx) { return map_.erase(tx, key); });
  }

  /// The number of keys; as they were at one point in time under each lock, one after the other.
  /// Walks over all of them: a counter would be a line that every insert and erase writes.
  std::size_t size() const {
    std::size_t count = 0;
    for_each_lock([&](Lock& lock, std::size_t first, std::size_t last) {
      count += elide(lock, [&](auto& tx) { return map_.size(tx, first, last); });
    });
    return count;
  }

  /// Calls `f(key, value)` for each key, in no order; as they were at one point in time under each
  /// lock, one after the other. The keys of a lock are copied out of its section first, so `f` runs
  /// once for each, may throw, and may use this map.
  template <class F>
  void for_each(F&& f) const {
    std::vector<map_entry<K, V>> entries;
    for_each_lock([&](Lock& lock, std::size_t first, std::size_t last) {
      elide(lock, [&](auto& tx) {
        entries.clear();
        map_.for_each(tx, first, last, [&](const K& key, const V& value) {
          entries.push_back({key, value});
        });
      });
      for (const auto& entry : entries) f(entry.key, entry.value);
    });
  }

  /// The first of the basic_hash_map's invariants that does not hold, in words. For tests: slow.
  std::optional<std::string_view> violated_invariant() const {
    std::optional<std::string_view> violated;
    for_each_lock([&](Lock& lock, std::size_t first, std::size_t last) {
      if (!violated)
        violated = elide(lock, [&](auto& tx) { return map_.violated_invariant(tx, first, last); });
    });
    return violated;
  }

 private:
  struct alignas(cache_line) latch {
    explicit latch(std::string_view name) : lock(name) {}
    mutable Lock lock;
  };

  /// Built in place from a range, because a lock cannot be moved.
  static std::vector<latch> latches(std::size_t count, std::string_view name) {
    const std::vector<std::string_view> names(count, name);
    return std::vector<latch>(names.begin(), names.end());
  }

  static std::size_t rounded_up(std::size_t buckets, std::size_t locks) {
    if (locks == 0) throw std::invalid_argument("hash_map: 0 locks; give it at least one");
    return (buckets + locks - 1) / locks * locks;
  }

  Lock& lock_of(const K& key) const { return latches_[map_.part_of(key, latches_.size())].lock; }

  template <class F>
  void for_each_lock(F&& f) const {
    const std::size_t each = map_.bucket_count() / latches_.size();
    for (std::size_t i = 0; i < latches_.size(); ++i) f(latches_[i].lock, i * each, (i + 1) * each);
  }

  basic_hash_map<K, V, Hash> map_;  // these two are not written after construction
  std::vector<latch> latches_;
};

}  // namespace unlatch
