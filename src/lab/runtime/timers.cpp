// SPDX-License-Identifier: Apache-2.0
#include "timers.hpp"

#include <algorithm>

#include "dispatch.hpp"

namespace unlatch::lab::timers {

namespace {

struct timer {
  cycles at;
  std::uint64_t order;
  thread* whose;
  std::uint32_t generation;
};

struct later {
  bool operator()(const timer& a, const timer& b) const noexcept {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }
};

host_array<timer> heap;
std::uint64_t orders;

void find_first() noexcept { the.first_timer = heap.empty() ? never : heap[0].at; }

}  // namespace

void add(thread& which, cycles at) noexcept {
  heap.push({at < never ? at : never - 1, orders++, &which, ++which.timer});
  std::push_heap(heap.begin(), heap.end(), later{});
  find_first();
}

void fire() noexcept {
  const timer done = heap[0];
  std::pop_heap(heap.begin(), heap.end(), later{});
  heap.pop();
  find_first();
  if (done.generation != done.whose->timer || done.whose->state != thread_state::blocked) return;
  done.whose->woken = false;
  dispatch::make_ready(*done.whose, done.at);
}

void reset() noexcept {
  heap.clear();
  orders = 0;
  find_first();
}

}  // namespace unlatch::lab::timers
