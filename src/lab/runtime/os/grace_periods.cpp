// SPDX-License-Identifier: Apache-2.0
//
// A grace period: every reader of the old phase of urcu_memb_gp.ctr leaves, twice, because a reader
// may read the counter, and store what it read only after we have looked. The waiter sleeps on
// urcu_memb_gp.futex, which the inlined read_unlock wakes, and pays for liburcu's two membarriers.
//
// As in liburcu, one worker serves all call_rcu(); it waits 10 ms after the first of a batch.
#include "lab/runtime/os/grace_periods.hpp"

#include <urcu/static/urcu-memb.h>
#include <urcu/urcu-memb.h>

#include "lab/runtime/host_memory.hpp"
#include "lab/runtime/os/clock_times.hpp"
#include "lab/runtime/os/futex.hpp"
#include "lab/runtime/os/interpose.hpp"
#include "lab/runtime/os/memory_access.hpp"
#include "lab/runtime/os/processors.hpp"

using namespace unlatch::lab;      // NOLINT(google-build-using-namespace): definitions only
using namespace unlatch::lab::os;  // NOLINT(google-build-using-namespace)

namespace {

constexpr timespec batching_time{0, 10'000'000};

struct callback {
  rcu_head* head;  ///< null: a barrier()
  void (*function)(rcu_head*);
};

host_array<urcu_reader*> readers;
host_array<callback> queue;
std::uint64_t added;   // callbacks ever queued in this run
std::uint64_t called;  // and called back
bool worker_exists;

bool is_old(urcu_reader& reader) noexcept {
  const unsigned long counter = atomic_word<unsigned long>(&reader.ctr).load();
  if ((counter & URCU_GP_CTR_NEST_MASK) == 0) return false;
  return ((counter ^ urcu_memb_gp.ctr) & URCU_GP_CTR_PHASE) != 0;
}

bool any_old() noexcept {
  // Reading one may switch, and a thread may register or go meanwhile: what matters is that those
  // that stay are looked at.
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (is_old(*readers[i])) return true;
  }
  return false;
}

void change_phase_and_wait() noexcept {
  const atomic_word<unsigned long> counter(&urcu_memb_gp.ctr);
  const atomic_word<std::int32_t> sleeper(&urcu_memb_gp.futex);
  counter.store(counter.load() ^ URCU_GP_CTR_PHASE);
  const waiting_for reason(reason::grace_period, &urcu_memb_gp);
  while (any_old()) {
    sleeper.store(-1);
    if (!any_old()) break;
    futex::wait(reinterpret_cast<std::uint32_t*>(&urcu_memb_gp.futex), ~std::uint32_t{0});
  }
  sleeper.store(0);
}

/// One grace period at a time: two at once would change the phase back under each other.
void synchronize() noexcept {
  static bool busy;
  scheduler::enter_kernel();
  while (busy) futex::sleep_on(&busy);
  busy = true;
  interrupt_other_cpus();
  change_phase_and_wait();
  change_phase_and_wait();
  scheduler::enter_kernel();
  interrupt_other_cpus();
  busy = false;
  futex::wake_from_kernel(&busy, 1);
}

void call_back(const callback& which) noexcept {
  if (which.head != nullptr) which.function(which.head);
}

/// Takes the oldest callback out of the queue.
callback take_first() noexcept {
  const callback first = queue[0];
  for (std::size_t i = 1; i < queue.size(); ++i) queue[i - 1] = queue[i];
  queue.pop();
  return first;
}

void* work(void*) noexcept {
  for (;;) {
    scheduler::enter_kernel();
    while (queue.empty()) {
      const waiting_for reason(reason::retired_objects, nullptr);
      futex::sleep_on(&queue);
    }
    sleep_until(deadline_after(batching_time));
    scheduler::enter_kernel();
    std::size_t batch = queue.size();
    synchronize();
    for (; batch != 0; --batch) {
      call_back(take_first());
      scheduler::enter_kernel();
      ++called;
    }
    futex::wake_from_kernel(&called, futex::everybody);
  }
}

void add(const callback& which) noexcept {
  scheduler::enter_kernel();
  if (!worker_exists) {
    worker_exists = true;
    pthread_t worker;
    if (pthread_create(&worker, nullptr, work, nullptr) == 0) pthread_detach(worker);
    scheduler::enter_kernel();
  }
  queue.push(which);
  ++added;
  futex::wake_from_kernel(&queue, 1);
}

}  // namespace

namespace unlatch::lab::os::grace_periods {

void finish() noexcept {
  while (!queue.empty()) call_back(take_first());
  readers.clear();
  added = called = 0;
  worker_exists = false;
  urcu_memb_gp.futex = 0;
}

}  // namespace unlatch::lab::os::grace_periods

UNLATCH_LAB_INTERPOSE void urcu_memb_register_thread() {
  if (host_mode()) return UNLATCH_LAB_HOST(urcu_memb_register_thread)();
  scheduler::enter_kernel();
  urcu_reader& reader = URCU_TLS(urcu_memb_reader);
  reader.ctr = 0;
  reader.registered = 1;
  readers.push(&reader);
}

UNLATCH_LAB_INTERPOSE void urcu_memb_unregister_thread() {
  if (host_mode()) return UNLATCH_LAB_HOST(urcu_memb_unregister_thread)();
  scheduler::enter_kernel();
  urcu_reader& reader = URCU_TLS(urcu_memb_reader);
  reader.registered = 0;
  for (urcu_reader*& each : readers) {
    if (each != &reader) continue;
    each = readers.back();
    readers.pop();
    break;
  }
}

UNLATCH_LAB_INTERPOSE void urcu_memb_synchronize_rcu() {
  if (host_mode()) return UNLATCH_LAB_HOST(urcu_memb_synchronize_rcu)();
  synchronize();
}

UNLATCH_LAB_INTERPOSE void urcu_memb_call_rcu(rcu_head* head, void (*function)(rcu_head*)) {
  if (host_mode()) return UNLATCH_LAB_HOST(urcu_memb_call_rcu)(head, function);
  add({head, function});
}

UNLATCH_LAB_INTERPOSE void urcu_memb_barrier() {
  if (host_mode()) return UNLATCH_LAB_HOST(urcu_memb_barrier)();
  add({nullptr, nullptr});
  const std::uint64_t mine = added;
  const waiting_for reason(reason::grace_period, &called);
  while (called < mine) futex::sleep_on(&called);
}
