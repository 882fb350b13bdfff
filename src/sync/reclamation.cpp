// SPDX-License-Identifier: Apache-2.0
#include "unlatch/reclamation.hpp"

#include <urcu/static/urcu-memb.h>  // the inlined forms, which liburcu leaves free for such use
#include <urcu/urcu-memb.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>

#include "unlatch/platform.hpp"

#if UNLATCH_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace unlatch::reclamation {
namespace {

#if UNLATCH_THREAD_SANITIZER
// liburcu is not instrumented: tell the sanitizer that a grace period orders readers before
// deleters.
char grace_period;
void readers_before() { __tsan_release(&grace_period); }
void deleters_after() { __tsan_acquire(&grace_period); }
void read_lock() { urcu_memb_read_lock(); }  // in the library, where it is not instrumented
void read_unlock() { urcu_memb_read_unlock(); }
#else
void readers_before() {}
void deleters_after() {}
void read_lock() { _urcu_memb_read_lock(); }
void read_unlock() { _urcu_memb_read_unlock(); }
#endif

struct retired {
  void* object;
  void (*deleter)(void*);
};

/// What one thread retired between two hand-overs to liburcu. The grace period over, liburcu's
/// worker only marks the batch; the thread that retired the objects frees them, because their
/// memory is in its cache and in its part of the heap. If that thread has ended, the worker frees
/// them.
struct batch {
  enum state : int { waiting, ripe, orphaned };

  rcu_head head{};
  std::atomic<int> state{waiting};
  std::size_t count = 0;
  std::array<retired, 256> items;

  void free_all() {
    deleters_after();
    for (std::size_t i = 0; i < count; ++i) items[i].deleter(items[i].object);
    count = 0;
  }

  static void grace_period_over(rcu_head* head) {
    deleters_after();
    batch* const self = caa_container_of(head, batch, head);
    if (self->state.exchange(ripe, std::memory_order_acq_rel) == orphaned) {
      self->free_all();
      delete self;
    }
  }
};

struct thread_state {
  std::unique_ptr<batch> open;
  std::deque<std::unique_ptr<batch>> handed_over;  ///< oldest first

  thread_state() { urcu_memb_register_thread(); }
  ~thread_state() {
    hand_over();
    for (auto& b : handed_over) {
      if (b->state.exchange(batch::orphaned, std::memory_order_acq_rel) == batch::ripe)
        b->free_all();
      else
        b.release();  // NOLINT(bugprone-unused-return-value): the worker owns it now
    }
    urcu_memb_unregister_thread();
  }

  void hand_over() {
    if (open == nullptr || open->count == 0) return;
    readers_before();  // the retiring thread's own accesses
    rcu_head* const head = &open->head;
    handed_over.push_back(std::move(open));
    urcu_memb_call_rcu(head, batch::grace_period_over);
  }

  void free_ripe() {
    while (!handed_over.empty() &&
           handed_over.front()->state.load(std::memory_order_acquire) == batch::ripe) {
      open = std::move(handed_over.front());  // and use its memory again
      handed_over.pop_front();
      open->free_all();
      open->state.store(batch::waiting, std::memory_order_relaxed);
    }
  }
};

thread_state& this_thread() {
  static thread_local thread_state state;
  return state;
}

thread_local bool registered [[gnu::tls_model("initial-exec")]] = false;

[[gnu::noinline, gnu::cold]] void register_this_thread() {
  this_thread();
  registered = true;
}

}  // namespace

void enter() noexcept {
  if (!registered) [[unlikely]]
    register_this_thread();
  read_lock();
}

void leave() noexcept {
  readers_before();
  read_unlock();
}

void retire(void* object, void (*deleter)(void*)) {
  thread_state& state = this_thread();
  registered = true;
  if (state.open == nullptr) {
    state.free_ripe();
    if (state.open == nullptr) state.open = std::make_unique<batch>();
  }
  batch& open = *state.open;
  open.items[open.count++] = {object, deleter};
  if (open.count == open.items.size()) state.hand_over();
}

void drain() {
  thread_state& state = this_thread();
  registered = true;
  state.hand_over();
  urcu_memb_barrier();
  state.free_ripe();
}

}  // namespace unlatch::reclamation
