// SPDX-License-Identifier: Apache-2.0
//
// The nodes that mcs_mutex takes from a pool per thread: a list of unused ones, deleted when the
// thread ends. Locks may be used by destructors of thread-local objects that run after the pool's:
// from then on nodes are made and deleted one by one.
#include "unlatch/mcs_mutex.hpp"

namespace unlatch::detail {
namespace {

constinit thread_local mcs_node* unused = nullptr;
constinit thread_local bool pool_is_gone = false;

struct pool_owner {
  ~pool_owner() {
    pool_is_gone = true;
    while (unused != nullptr) {
      mcs_node* const node = unused;
      unused = node->next.load(std::memory_order_relaxed);
      delete node;
    }
  }
  /// Makes the thread-local object, so that its destructor runs.
  void keep() noexcept {}
};

thread_local pool_owner owner;

}  // namespace

mcs_node* take_mcs_node() {
  mcs_node* const node = unused;
  if (node == nullptr) [[unlikely]] {
    if (!pool_is_gone) owner.keep();
    return new mcs_node;
  }
  unused = node->next.load(std::memory_order_relaxed);
  node->next.store(nullptr, std::memory_order_relaxed);
  node->state.store(mcs_node::waiting, std::memory_order_relaxed);
  return node;
}

void give_back_mcs_node(mcs_node* node) noexcept {
  if (pool_is_gone) [[unlikely]] {
    delete node;
    return;
  }
  node->next.store(unused, std::memory_order_relaxed);
  unused = node;
}

}  // namespace unlatch::detail
