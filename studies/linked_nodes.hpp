// SPDX-License-Identifier: Apache-2.0
//
// What the studies' lists do with their nodes while no section runs. A node has a `next`, null in
// the last one.
//
// Thread safety: none; the caller has the list to itself.
#pragma once

#include <cstddef>

namespace unlatch::studies {

/// Deletes `first`, which may be null, and all nodes behind it.
template <class Node>
void delete_nodes(Node* first) {
  while (first != nullptr) {
    Node* const following = first->next;
    delete first;
    first = following;
  }
}

/// The number of nodes from `first`, which may be null, to the last.
template <class Node>
std::size_t count_nodes(const Node* first) {
  std::size_t count = 0;
  for (; first != nullptr; first = first->next) ++count;
  return count;
}

}  // namespace unlatch::studies
