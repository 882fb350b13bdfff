// SPDX-License-Identifier: Apache-2.0
#include "unlatch/reclamation.hpp"

#define URCU_INLINE_SMALL_FUNCTIONS
#include <urcu/urcu-memb.h>
#include <urcu/static/urcu-memb.h>

#include <array>
#include <cstddef>
#include <memory>

#include "unlatch/platform.hpp"

#if UNLATCH_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace unlatch::reclamation {
namespace {

#if UNLATCH_THREAD_SANITIZER
// liburcu is not instrumented: tell the sanitizer that a grace period orders readers before deleters.
char grace_period;
void readers_before() { __tsan_release(&grace_period); }
void deleters_after() { __tsan_acquire(&grace_period); }
#else
void readers_before() {}
void deleters_after() {}
#endif

struct retired {
  void* object;
  void (*deleter)(void*);
};

/// What one thread retired since its last batch went to liburcu.
struct batch {
  rcu_head head{};
  std::size_t count = 0;
  std::array<retired, 256> items;

  static void free_all(rcu_head* head) {
    deleters_after();
    const std::unique_ptr<batch> self(caa_container_of(head, batch, head));
    for (std::size_t i = 0; i < self->count; ++i) self->items[i].deleter(self->items[i].object);
  }
};

struct thread_state {
  std::unique_ptr<batch> open;

  thread_state() { urcu_memb_register_thread(); }
  ~thread_state() {
    flush();
    urcu_memb_unregister_thread();
  }
  void flush() {
    if (open == nullptr) return;
    readers_before();  // the retiring thread's own writes
    urcu_memb_call_rcu(&open.release()->head, batch::free_all);
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
  if (!registered) [[unlikely]] register_this_thread();
  _urcu_memb_read_lock();
}

void leave() noexcept {
  readers_before();
  _urcu_memb_read_unlock();
}

void retire(void* object, void (*deleter)(void*)) {
  thread_state& state = this_thread();
  registered = true;
  if (state.open == nullptr) state.open = std::make_unique<batch>();
  batch& open = *state.open;
  open.items[open.count++] = {object, deleter};
  if (open.count == open.items.size()) state.flush();
}

void drain() {
  this_thread().flush();
  registered = true;
  urcu_memb_barrier();
}

}  // namespace unlatch::reclamation
