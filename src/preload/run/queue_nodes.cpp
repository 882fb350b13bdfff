// SPDX-License-Identifier: Apache-2.0
//
// The library's seam for the nodes of mcs_mutex: where they come from. The library's own takes them
// from the allocator, whose own locks may be what needs them here. These are cut from pages, wander
// between threads with the locks, and are left to others when a thread ends.
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

#include "src/preload/run/modes.hpp"
#include "src/preload/run/system.hpp"
#include "unlatch/mcs_mutex.hpp"

namespace unlatch::detail {
namespace {

constexpr std::size_t nodes_at_once = 64;

constinit thread_local mcs_node* unused = nullptr;
constinit thread_local bool leaves_nodes = false;  ///< this thread, when it ends
constinit std::atomic<mcs_node*> left{nullptr};    ///< by ended threads; taken as a whole
constinit pthread_key_t at_thread_end = 0;
constinit bool has_key = false;

mcs_node* next_of(const mcs_node& node) noexcept {
  return node.next.load(std::memory_order_relaxed);
}

void leave_nodes(void*) noexcept {
  leaves_nodes = false;
  if (unused == nullptr) return;
  mcs_node* last = unused;
  while (next_of(*last) != nullptr) last = next_of(*last);
  mcs_node* others = left.load(std::memory_order_relaxed);
  do last->next.store(others, std::memory_order_relaxed);
  while (!left.compare_exchange_weak(others, unused, std::memory_order_release));
  unused = nullptr;
}

mcs_node* map_nodes() {
  void* const memory = mmap(nullptr, nodes_at_once * sizeof(mcs_node), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    preload::complain("no memory for a queue lock's nodes");
    __builtin_trap();
  }
  auto* const nodes = static_cast<mcs_node*>(memory);
  for (std::size_t i = 0; i < nodes_at_once; ++i) {
    new (&nodes[i]) mcs_node;
    if (i + 1 < nodes_at_once) nodes[i].next.store(&nodes[i + 1], std::memory_order_relaxed);
  }
  return nodes;
}

}  // namespace

mcs_node* take_mcs_node() {
  if (unused == nullptr) [[unlikely]] {
    unused = left.exchange(nullptr, std::memory_order_acquire);
    if (unused == nullptr) unused = map_nodes();
    if (!leaves_nodes && has_key) leaves_nodes = pthread_setspecific(at_thread_end, &unused) == 0;
  }
  mcs_node* const node = unused;
  unused = next_of(*node);
  node->next.store(nullptr, std::memory_order_relaxed);
  node->state.store(mcs_node::waiting, std::memory_order_relaxed);
  return node;
}

void give_back_mcs_node(mcs_node* node) noexcept {
  node->next.store(unused, std::memory_order_relaxed);
  unused = node;
}

}  // namespace unlatch::detail

namespace unlatch::preload {

void prepare_queue_nodes() noexcept {
  detail::has_key = pthread_key_create(&detail::at_thread_end, detail::leave_nodes) == 0;
}

}  // namespace unlatch::preload
