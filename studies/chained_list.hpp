// SPDX-License-Identifier: Apache-2.0
//
// A bucket's list in the hash map of Schrimpf 2014, section 3.3.4: single links, no value twice, so
// an insert reads the whole list and links the value after its last. Nodes are made outside the
// section.
//
// Thread safety: the caller's sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include "studies/linked_nodes.hpp"
#include "unlatch/platform.hpp"

namespace unlatch::studies {

class chained_list {
 public:
  struct node {
    std::uint64_t value = 0;
    node* next = nullptr;

    /// What a new node takes, and a multiple of which its address is: a power of two. With that of
    /// a cache line nodes are not in each other's way.
    static inline std::size_t bytes = cache_line;

    static void* operator new(std::size_t) {
      return ::operator new(bytes, std::align_val_t(bytes));
    }
    static void operator delete(void* old) { ::operator delete(old, std::align_val_t(bytes)); }
  };

  chained_list() = default;
  chained_list(const chained_list&) = delete;
  chained_list& operator=(const chained_list&) = delete;
  ~chained_list() { delete_nodes(first_); }

  /// Reads every node up to the value. Returns the one that has it, or null.
  template <class Tx>
  node* find(Tx& tx, std::uint64_t value) {
    return tx.read(*link_to(tx, value));
  }

  /// Links `added`, which is nobody else's yet, unless its value is there. Returns whether it did.
  template <class Tx>
  bool insert(Tx& tx, node* added) {
    node** const link = link_to(tx, added->value);
    if (tx.read(*link) != nullptr) return false;
    tx.write(*link, added);
    return true;
  }

  /// Removes the node with that value; false if there is none.
  template <class Tx>
  bool erase(Tx& tx, std::uint64_t value) {
    node** const link = link_to(tx, value);
    node* const found = tx.read(*link);
    if (found == nullptr) return false;
    tx.write(*link, tx.read(found->next));
    tx.retire(found);
    return true;
  }

  /// The number of nodes; only while no section runs.
  [[nodiscard]] std::size_t size() const { return count_nodes(first_); }

 private:
  /// The link that holds the node with that value, or else the last.
  template <class Tx>
  node** link_to(Tx& tx, std::uint64_t value) {
    node** link = &first_;
    for (node* at; (at = tx.read(*link)) != nullptr && tx.read(at->value) != value;) {
      link = &at->next;
    }
    return link;
  }

  node* first_ = nullptr;
};

}  // namespace unlatch::studies
