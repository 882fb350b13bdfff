// SPDX-License-Identifier: Apache-2.0
//
// The queues that are compared, behind one interface:
//
//   queue.push(item)     from any thread
//   queue.try_pop()      from the consumer; null if there is nothing
//
// The intrusive ones link the items themselves; the others hold their addresses.
#pragma once

#include <atomic>
#include <cstdint>

#include "unlatch/platform.hpp"
#include "unlatch/structures/mpsc_queue.hpp"

#if UNLATCH_BENCH_WFCQUEUE
#define _LGPL_SOURCE  // inlined, as ours is
#include <urcu/wfcqueue.h>
#endif
#if UNLATCH_BENCH_TBB
#include <oneapi/tbb/concurrent_queue.h>
#endif
#if UNLATCH_BENCH_MOODYCAMEL
#include <concurrentqueue/concurrentqueue.h>
#endif

namespace unlatch::bench {

#if UNLATCH_BENCH_WFCQUEUE
struct wfcqueue_hook {
  cds_wfcq_node node;
};
#else
struct wfcqueue_hook {};
#endif

/// What is queued. `queued` is set by its producer and cleared by the consumer.
struct alignas(cache_line) item : mpsc_hook, wfcqueue_hook {
  std::atomic<bool> queued{false};
};

class intrusive_unlatch_queue {
 public:
  void push(item& one) { queue_.push(one); }
  item* try_pop() { return queue_.try_pop(); }

 private:
  intrusive_mpsc_queue<item> queue_;
};

class unlatch_queue {
 public:
  void push(item& one) { queue_.push(&one); }
  item* try_pop() { return queue_.try_pop().value_or(nullptr); }

 private:
  mpsc_queue<item*> queue_;
};

#if UNLATCH_BENCH_WFCQUEUE
class urcu_queue {
 public:
  urcu_queue() {
    __cds_wfcq_init(&head_, &tail_);
    head_pointer_._h = &head_;
  }
  void push(item& one) {
    cds_wfcq_node_init(&one.node);
    cds_wfcq_enqueue(head_pointer_, &tail_, &one.node);
  }
  item* try_pop() {
    cds_wfcq_node* const node = __cds_wfcq_dequeue_blocking(head_pointer_, &tail_);
    // The node is the first member of its hook.
    return static_cast<item*>(reinterpret_cast<wfcqueue_hook*>(node));
  }

 private:
  alignas(cache_line) __cds_wfcq_head head_;
  alignas(cache_line) cds_wfcq_tail tail_;
  alignas(cache_line) cds_wfcq_head_ptr_t head_pointer_;
};
#endif

#if UNLATCH_BENCH_TBB
class tbb_queue {
 public:
  void push(item& one) { queue_.push(&one); }
  item* try_pop() {
    item* one = nullptr;
    queue_.try_pop(one);
    return one;
  }

 private:
  tbb::concurrent_queue<item*> queue_;
};
#endif

#if UNLATCH_BENCH_MOODYCAMEL
class moodycamel_queue {
 public:
  void push(item& one) { queue_.enqueue(&one); }
  item* try_pop() {
    item* one = nullptr;
    queue_.try_dequeue(one);
    return one;
  }

 private:
  moodycamel::ConcurrentQueue<item*> queue_;
};
#endif

}  // namespace unlatch::bench
