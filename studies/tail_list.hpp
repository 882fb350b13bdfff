// SPDX-License-Identifier: Apache-2.0
//
// The doubly linked list of Schrimpf 2014, section 3.3.3: values are added at the tail and looked
// for from the head, and may be there more than once. A node has a cache line of its own, and is
// made outside the section.
//
// Thread safety: the caller's sections. Invariant: next and previous mirror each other; the first
// node has no previous, the last no next.
#pragma once

#include <cstddef>
#include <cstdint>

#include "studies/linked_nodes.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {

class tail_list {
 public:
  struct alignas(cache_line) node {
    std::uint64_t value = 0;
    node* next = nullptr;
    node* previous = nullptr;
  };

  tail_list() = default;
  tail_list(const tail_list&) = delete;
  tail_list& operator=(const tail_list&) = delete;
  ~tail_list() { delete_nodes(first_); }

  /// Reads every node up to the value. Returns the first that has it, or null.
  template <class Tx>
  node* find(Tx& tx, std::uint64_t value) const {
    node* at = tx.read(first_);
    while (at != nullptr && tx.read(at->value) != value) at = tx.read(at->next);
    return at;
  }

  /// Links `added`, which is nobody else's yet; writes the tail and the node before it. True.
  template <class Tx>
  bool insert(Tx& tx, node* added) {
    node* const last = tx.read(last_);
    tx.write(added->next, static_cast<node*>(nullptr));
    tx.write(added->previous, last);
    if (last == nullptr) {
      tx.write(first_, added);
    } else {
      tx.write(last->next, added);
    }
    tx.write(last_, added);
    return true;
  }

  /// Removes the first node with that value; false if there is none.
  template <class Tx>
  bool erase(Tx& tx, std::uint64_t value) {
    node* const found = find(tx, value);
    if (found == nullptr) return false;
    node* const next = tx.read(found->next);
    node* const previous = tx.read(found->previous);
    if (previous == nullptr) {
      tx.write(first_, next);
    } else {
      tx.write(previous->next, next);
    }
    if (next == nullptr) {
      tx.write(last_, previous);
    } else {
      tx.write(next->previous, previous);
    }
    tx.retire(found);
    return true;
  }

  /// The number of nodes; only while no section runs.
  [[nodiscard]] std::size_t size() const { return count_nodes(first_); }

 private:
  // Apart: who adds at the tail is not in the way of who begins to look at the head.
  alignas(cache_line) node* first_ = nullptr;
  alignas(cache_line) node* last_ = nullptr;
};

}  // namespace unlatch::studies
