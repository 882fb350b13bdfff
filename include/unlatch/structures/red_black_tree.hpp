// SPDX-License-Identifier: Apache-2.0
//
// red_black_tree: an ordered map; a binary search tree that is at most twice as high as a perfectly
// balanced one (Guibas, Sedgewick 1978; Cormen et al., Introduction to Algorithms, chapter 13).
//
// Thread safety: red_black_tree: any member but the destructor from any thread; one lock protects
// everything (elided_map.hpp). basic_red_black_tree: the caller's section.
//
// Invariants
//   1. Every key is greater than all keys below its node to the left, and less than those to the
//      right.
//   2. A red node has no red child, and the root is black.
//   3. On every way from the root down to an absent child there are equally many black nodes.
//   4. A child's parent is the node whose child it is; the root's is null.
//   5. A node's key never changes once the node is linked (erase moves nodes, not keys), so it is
//      read without `tx`. A node that was unlinked keeps its links: a speculation that stands on it
//      reads on and then fails.
//
// An absent child is a null pointer. With the textbook's shared sentinel every erase would write
// the sentinel's parent: one line that all sections share, for nothing. Here the repair carries the
// parent along.
//
//   up | bits | meaning
//   ---+------+----------------------------------------
//      |  0   | the node is red
//      | 1-63 | the parent's address (nodes are aligned)
//
// What a section reads and writes: find reads one node a level. insert and erase do so first, then
// write one to three nodes on average, more only while recolouring upwards; a field that keeps its
// value is not written. What finds nothing to do writes nothing.
//
// Progress: that of the lock. Cost: O(log n); a node is the key, three words and the value (40
// bytes if both have 8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>

#include "unlatch/elided.hpp"
#include "unlatch/spin_mutex.hpp"
#include "unlatch/structures/elided_map.hpp"

namespace unlatch {

/// The sequential algorithm. `Tx` is what a body of elide() gets, or plain_tx. K and V are
/// trivially copyable; Less is a strict weak order of K.
template <class K, class V, class Less = std::less<K>>
class basic_red_black_tree {
  static_assert(std::is_trivially_copyable_v<K> && std::is_trivially_copyable_v<V>,
                "tx.read() copies keys and values while they may be changing");

 public:
  using key_type = K;
  using mapped_type = V;
  static constexpr std::string_view name = "red_black_tree";

  explicit basic_red_black_tree(Less less = {}) : less_(less) {}
  basic_red_black_tree(const basic_red_black_tree&) = delete;
  basic_red_black_tree& operator=(const basic_red_black_tree&) = delete;
  /// Nobody else may use the tree any more.
  ~basic_red_black_tree();

  /// The value of `key`, if it is there.
  template <class Tx>
  std::optional<V> find(Tx& tx, const K& key) const {
    for (const node* n = tx.read(root_); n != nullptr;) {
      const bool right = less_(n->key, key);
      if (!right && !less_(key, n->key)) return tx.read(n->value);
      n = tx.read(n->child[right]);
    }
    return std::nullopt;
  }

  /// Adds `key` with `value`; false if it is there already.
  template <class Tx>
  bool insert(Tx& tx, const K& key, const V& value) {
    const place where = locate(tx, key);
    if (where.found == nullptr) add(tx, where, key, value);
    return where.found == nullptr;
  }

  /// Gives `key` the value `value`; true if the key was not there before.
  template <class Tx>
  bool insert_or_assign(Tx& tx, const K& key, const V& value) {
    const place where = locate(tx, key);
    if (where.found == nullptr)
      add(tx, where, key, value);
    else
      tx.write(where.found->value, value);
    return where.found == nullptr;
  }

  /// Removes `key`; false if it is not there.
  template <class Tx>
  bool erase(Tx& tx, const K& key);

  /// The number of keys; walks over all of them.
  template <class Tx>
  std::size_t size(Tx& tx) const {
    std::size_t count = 0;
    for (const node* n = first(tx); n != nullptr; n = next(tx, n)) ++count;
    return count;
  }

  /// Calls `f(key, value)` for each key in ascending order.
  template <class Tx, class F>
  void for_each(Tx& tx, F&& f) const {
    for (const node* n = first(tx); n != nullptr; n = next(tx, n)) f(n->key, tx.read(n->value));
  }

  /// The first invariant that does not hold, in words. O(n log n).
  template <class Tx>
  std::optional<std::string_view> violated_invariant(Tx& tx) const;

 private:
  static constexpr unsigned left = 0;
  static constexpr unsigned right = 1;

  struct node {
    node(const K& k, const V& v, std::uintptr_t parent_and_colour)
        : key(k), value(v), up(parent_and_colour) {}
    const K key;
    node* child[2] = {nullptr, nullptr};
    V value;
    std::uintptr_t up;
  };
  static_assert(alignof(node) >= 2, "the lowest bit of a node's address holds the colour");

  /// Where a key is; or where it would be, as a child of `parent` (null: as the root).
  struct place {
    node* found;
    node* parent;
    unsigned side;
  };

  template <class Tx>
  place locate(Tx& tx, const K& key) const {
    place where{tx.read(root_), nullptr, left};
    while (where.found != nullptr) {
      node* const n = where.found;
      const bool is_right = less_(n->key, key);
      if (!is_right && !less_(key, n->key)) break;
      where = {tx.read(n->child[is_right]), n, is_right};
    }
    return where;
  }

  // --- colours and parents
  // ------------------------------------------------------------------------

  static constexpr std::uintptr_t red = 1;
  static constexpr std::uintptr_t black = 0;

  static std::uintptr_t word(const node* parent, std::uintptr_t colour) noexcept {
    return reinterpret_cast<std::uintptr_t>(parent) | colour;
  }
  template <class Tx>
  static node* parent_of(Tx& tx, const node* n) {
    return reinterpret_cast<node*>(tx.read(n->up) & ~red);
  }
  /// An absent child is black.
  template <class Tx>
  static bool is_red(Tx& tx, const node* n) {
    return n != nullptr && (tx.read(n->up) & red) != 0;
  }
  template <class Tx>
  static void set_colour(Tx& tx, node* n, std::uintptr_t colour) {
    const std::uintptr_t up = tx.read(n->up);
    if ((up & red) != colour) tx.write(n->up, up ^ red);
  }
  template <class Tx>
  static void set_parent(Tx& tx, node* n, const node* parent) {
    tx.write(n->up, word(parent, tx.read(n->up) & red));
  }

  // --- changes of shape
  // ---------------------------------------------------------------------------

  /// Makes `now` the child of `parent` (null: the root) in the place of `before`.
  template <class Tx>
  void replace_child(Tx& tx, node* parent, const node* before, node* now) {
    if (parent == nullptr)
      tx.write(root_, now);
    else
      tx.write(parent->child[tx.read(parent->child[right]) == before], now);
  }

  /// Moves `top` down to `side`; its child of the other side takes its place.
  template <class Tx>
  void rotate(Tx& tx, node* top, unsigned side) {
    node* const riser = tx.read(top->child[!side]);
    node* const between = tx.read(riser->child[side]);
    node* const above = parent_of(tx, top);
    tx.write(top->child[!side], between);
    if (between != nullptr) set_parent(tx, between, top);
    replace_child(tx, above, top, riser);
    set_parent(tx, riser, above);
    tx.write(riser->child[side], top);
    set_parent(tx, top, riser);
  }

  template <class Tx>
  void add(Tx& tx, const place& where, const K& key, const V& value) {
    node* const parent = where.parent;
    if (parent == nullptr) {
      tx.write(root_, tx.template allocate<node>(key, value, word(nullptr, black)));
      return;
    }
    node* const added = tx.template allocate<node>(key, value, word(parent, red));
    tx.write(parent->child[where.side], added);
    if (is_red(tx, parent)) repair_red_child(tx, added, parent);
  }

  template <class Tx>
  void repair_red_child(Tx& tx, node* n, node* parent);
  template <class Tx>
  void repair_missing_black(Tx& tx, node* n, node* parent);

  // --- walking
  // ------------------------------------------------------------------------------------

  template <class Tx>
  static node* leftmost(Tx& tx, node* n) {
    while (node* const below = tx.read(n->child[left])) n = below;
    return n;
  }
  template <class Tx>
  const node* first(Tx& tx) const {
    node* const root = tx.read(root_);
    return root == nullptr ? nullptr : leftmost(tx, root);
  }
  template <class Tx>
  static const node* next(Tx& tx, const node* n) {
    if (node* const below = tx.read(n->child[right])) return leftmost(tx, below);
    const node* parent = parent_of(tx, n);
    while (parent != nullptr && tx.read(parent->child[right]) == n) {
      n = parent;
      parent = parent_of(tx, n);
    }
    return parent;
  }

  node* root_ = nullptr;
  [[no_unique_address]] Less less_;
};

/// The concurrent tree. `Lock` is an elided<>.
template <class K, class V, class Lock = elided<spin_mutex>, class Less = std::less<K>>
class red_black_tree : public elided_map<basic_red_black_tree<K, V, Less>, Lock> {
 public:
  using elided_map<basic_red_black_tree<K, V, Less>, Lock>::elided_map;
};

// --- definitions
// ----------------------------------------------------------------------------------

template <class K, class V, class Less>
basic_red_black_tree<K, V, Less>::~basic_red_black_tree() {
  // Rotates left children away, so that neither a stack nor the parents are needed.
  for (node* n = root_; n != nullptr;) {
    if (node* const below = n->child[left]) {
      n->child[left] = below->child[right];
      below->child[right] = n;
      n = below;
    } else {
      node* const following = n->child[right];
      delete n;
      n = following;
    }
  }
}

/// `n` and `parent` are red. A red `parent` is not the root, so it has a parent.
template <class K, class V, class Less>
template <class Tx>
void basic_red_black_tree<K, V, Less>::repair_red_child(Tx& tx, node* n, node* parent) {
  for (;;) {
    node* const grandparent = parent_of(tx, parent);
    const unsigned side = tx.read(grandparent->child[right]) == parent;
    node* const uncle = tx.read(grandparent->child[!side]);
    if (!is_red(tx, uncle)) {
      if (tx.read(parent->child[side]) != n) {
        rotate(tx, parent, side);
        parent = n;
      }
      set_colour(tx, parent, black);
      set_colour(tx, grandparent, red);
      rotate(tx, grandparent, !side);
      return;
    }
    set_colour(tx, parent, black);
    set_colour(tx, uncle, black);
    node* const above = parent_of(tx, grandparent);
    if (above == nullptr) return;  // the root stays black
    set_colour(tx, grandparent, red);
    if (!is_red(tx, above)) return;
    n = grandparent;
    parent = above;
  }
}

/// The ways through `n` (perhaps absent), a child of `parent`, have one black node too few.
template <class K, class V, class Less>
template <class Tx>
void basic_red_black_tree<K, V, Less>::repair_missing_black(Tx& tx, node* n, node* parent) {
  while (parent != nullptr && !is_red(tx, n)) {
    // The sibling's ways have a black node that those of `n` lack: it is there, `n` may not be.
    const unsigned side = tx.read(parent->child[right]) == n;
    node* sibling = tx.read(parent->child[!side]);
    if (is_red(tx, sibling)) {
      set_colour(tx, sibling, black);
      set_colour(tx, parent, red);
      rotate(tx, parent, side);
      sibling = tx.read(parent->child[!side]);
    }
    node* const near = tx.read(sibling->child[side]);
    node* far = tx.read(sibling->child[!side]);
    if (!is_red(tx, near) && !is_red(tx, far)) {
      set_colour(tx, sibling, red);
      n = parent;
      parent = parent_of(tx, n);
      continue;
    }
    if (!is_red(tx, far)) {
      set_colour(tx, near, black);
      set_colour(tx, sibling, red);
      rotate(tx, sibling, !side);
      far = sibling;
      sibling = near;
    }
    set_colour(tx, sibling, is_red(tx, parent) ? red : black);
    set_colour(tx, parent, black);
    set_colour(tx, far, black);
    rotate(tx, parent, side);
    return;
  }
  if (n != nullptr) set_colour(tx, n, black);
}

template <class K, class V, class Less>
template <class Tx>
bool basic_red_black_tree<K, V, Less>::erase(Tx& tx, const K& key) {
  node* const gone = locate(tx, key).found;
  if (gone == nullptr) return false;
  node* const parent = parent_of(tx, gone);
  node* const on_left = tx.read(gone->child[left]);
  node* const on_right = tx.read(gone->child[right]);
  node* orphan;       // loses its parent, and
  node* foster;       // gets this one,
  bool black_leaves;  // and its ways lose a black node
  if (on_left == nullptr || on_right == nullptr) {
    orphan = on_left != nullptr ? on_left : on_right;
    foster = parent;
    black_leaves = !is_red(tx, gone);
    replace_child(tx, parent, gone, orphan);
    if (orphan != nullptr) set_parent(tx, orphan, parent);
  } else {
    node* const heir = leftmost(tx, on_right);  // takes the place and the colour of `gone`
    orphan = tx.read(heir->child[right]);
    foster = heir;
    black_leaves = !is_red(tx, heir);
    if (heir != on_right) {
      foster = parent_of(tx, heir);
      tx.write(foster->child[left], orphan);
      if (orphan != nullptr) set_parent(tx, orphan, foster);
      tx.write(heir->child[right], on_right);
      set_parent(tx, on_right, heir);
    }
    tx.write(heir->child[left], on_left);
    set_parent(tx, on_left, heir);
    replace_child(tx, parent, gone, heir);
    tx.write(heir->up, tx.read(gone->up));
  }
  if (black_leaves) repair_missing_black(tx, orphan, foster);
  tx.retire(gone);
  return true;
}

template <class K, class V, class Less>
template <class Tx>
std::optional<std::string_view> basic_red_black_tree<K, V, Less>::violated_invariant(Tx& tx) const {
  const node* const root = tx.read(root_);
  if (root == nullptr) return std::nullopt;
  if (is_red(tx, root)) return "red_black_tree, invariant 2: the root is red";
  std::size_t blacks = 0;  // on the way to the first absent child
  const node* before = nullptr;
  for (const node* n = first(tx); n != nullptr; before = n, n = next(tx, n)) {
    if (before != nullptr && !less_(before->key, n->key))
      return "red_black_tree, invariant 1: a key is not greater than the one before it";
    const node* const parent = parent_of(tx, n);
    const bool is_child = parent != nullptr &&
                          (n == tx.read(parent->child[left]) || n == tx.read(parent->child[right]));
    if (n == root ? parent != nullptr : !is_child)
      return "red_black_tree, invariant 4: a node is not a child of its parent";
    bool is_leaf = false;
    for (const node* const child : {tx.read(n->child[left]), tx.read(n->child[right])}) {
      if (child == nullptr)
        is_leaf = true;
      else if (parent_of(tx, child) != n)
        return "red_black_tree, invariant 4: a child has another parent";
      else if (is_red(tx, n) && is_red(tx, child))
        return "red_black_tree, invariant 2: a red node has a red child";
    }
    if (!is_leaf) continue;
    std::size_t on_way = 0;
    for (const node* up = n; up != nullptr; up = parent_of(tx, up)) on_way += !is_red(tx, up);
    if (blacks == 0) blacks = on_way;
    if (on_way != blacks)
      return "red_black_tree, invariant 3: two ways down have different numbers of black nodes";
  }
  return std::nullopt;
}

}  // namespace unlatch
