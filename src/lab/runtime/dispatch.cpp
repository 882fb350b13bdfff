// SPDX-License-Identifier: Apache-2.0
#include "dispatch.hpp"

#include "abort.hpp"
#include "context.hpp"
#include "explore.hpp"
#include "interrupts.hpp"
#include "timers.hpp"
#include "waiting.hpp"

namespace unlatch::lab {

machine the;

void arm(cpu& which) noexcept {
  fast_path& fast = unlatch_lab_fast;
  const thread& owner = *which.current;
  cycles others = the.ready.second_clock();
  if (timers::next() < others) others = timers::next();
  const cycles event = interrupts::next_event(which);
  the.running = &which;
  the.switch_limit = others < event ? others : event;
  if (the.strategy != nullptr) the.switch_limit = 0;  // every access is asked for
  cycles limit = others < never - the.run_ahead ? others + the.run_ahead : never;
  if (event < limit) limit = event;
  fast.clock = &clock_of(which);
  fast.limit = the.strategy != nullptr ? 0 : limit;
  fast.time_limit = the.time_limit;
  // A strategy is asked for a thread's own stack, too: the other side may come later.
  fast.stack_base = owner.stack_seen || the.strategy != nullptr ? 1 : owner.stack;
  fast.in_transaction = which.tx.depth;
  fast.read_tags = which.read_tags;
  fast.write_tags = which.write_tags;
}

void arm_host() noexcept {
  static const std::uint64_t no_tags[tag_entries] = {};
  fast_path& fast = unlatch_lab_fast;
  the.running = nullptr;
  fast.clock = &the.clocks[most_cpus];
  fast.limit = 0;
  fast.time_limit = never;
  fast.stack_base = 1;
  fast.in_transaction = 0;
  fast.read_tags = no_tags;
  fast.write_tags = no_tags;
}

void catch_up(std::uintptr_t code) noexcept {
  cpu& me = *the.running;
  interrupts::slow_down_by_sibling(me);
  if (the.strategy == nullptr && clock_of(me) >= interrupts::next_event(me)) {
    interrupts::take(me, code);
  }
  cpu& here = *the.running;  // the thread may have gone to another CPU
  the.ready.move(here.number, clock_of(here));
  dispatch::switch_from(*here.current);
}

namespace dispatch {

namespace {

std::uintptr_t host_stack;
std::uintptr_t host_storage;
std::uintptr_t nowhere;

// The CPU to run next; fires the timers that come before it.
cpu* next() noexcept {
  for (;;) {
    const bool some = !the.ready.empty();
    const bool in_time = the.strategy == nullptr && timers::next() <= the.ready.top_clock();
    if (timers::next() != never && (!some || in_time)) {
      timers::fire();
      continue;
    }
    if (some && the.strategy != nullptr) return explore::choose();
    return some ? &the.cpus[the.ready.top()] : nullptr;
  }
}

// Goes to a CPU's thread, or back to lab::run() if there is none.
void go(std::uintptr_t* save, cpu* to) noexcept {
  if (to == nullptr) {
    arm_host();
    context::set_storage(host_storage);
    context::unlatch_lab_switch(save, host_stack, 0);
    return;
  }
  ++to->meter.host_switches;
  arm(*to);
  const thread& which = *to->current;
  context::set_storage(which.storage);
  context::unlatch_lab_switch(save, which.stack_pointer, which.resume_value);
}

void enqueue(cpu& where, thread& which) noexcept {
  which.state = thread_state::ready;
  which.next = nullptr;
  (where.queue_head == nullptr ? where.queue_head : where.queue_tail->next) = &which;
  where.queue_tail = &which;
  ++where.queued;
  waiting::wake(where, which.ready_at);
}

thread* dequeue(cpu& where) noexcept {
  thread* const first = where.queue_head;
  if (first != nullptr) {
    where.queue_head = first->next;
    --where.queued;
  }
  return first;
}

// Starts a thread on a CPU that has none.
void start(cpu& where, thread& which, cycles at, bool switched) noexcept {
  cycles& clock = clock_of(where);
  const bool was_idle = !the.ready.contains(where.number);
  if (at > clock) clock = at;
  if (switched) {
    clock += the.rules.cycles_of_ns(the.rules.system.context_switch_ns);
    ++where.meter.context_switches;
  }
  if (which.last_cpu != where.number) ++where.meter.migrations;
  which.last_cpu = where.number;
  which.state = thread_state::running;
  where.current = &which;
  where.slowed_until = clock;
  where.slice_end = clock + the.rules.cycles_of_ns(1000ull * the.rules.system.quantum_us);
  interrupts::skip_idle_time(where);
  if (was_idle) {
    where.busy_from = clock;
    the.ready.insert(where.number, clock);
  } else {
    the.ready.move(where.number, clock);
  }
}

// A thread that waits for another CPU and may run here: from the longest queue.
thread* steal(cpu& me) noexcept {
  cpu* richest = nullptr;
  for (std::uint32_t i = 0; i < the.rules.cpus(); ++i) {
    cpu& other = the.cpus[i];
    if (other.queued == 0 || (richest != nullptr && other.queued <= richest->queued)) continue;
    if (other.queue_head->ready_at <= clock_of(me) && allows(*other.queue_head, me)) {
      richest = &other;
    }
  }
  return richest == nullptr ? nullptr : dequeue(*richest);
}

bool is_idle(const cpu& which) noexcept { return which.current == nullptr; }

// Where a thread should run: its last CPU if that is idle, else an idle core, else an idle hardware
// thread, else the CPU with the fewest threads.
cpu& place(const thread& which) noexcept {
  cpu& last = the.cpus[which.last_cpu];
  if (allows(which, last) && is_idle(last)) return last;
  cpu* best = nullptr;
  std::uint32_t best_load = ~0u;
  for (std::uint32_t i = 0; i < the.rules.cpus(); ++i) {
    cpu& each = the.cpus[i];
    if (!allows(which, each)) continue;
    const bool beside = each.sibling != nullptr && !is_idle(*each.sibling);
    const std::uint32_t load = (is_idle(each) ? 0 : 2 + 2 * each.queued) + (beside ? 1 : 0);
    if (load < best_load || (load == best_load && &each == &last)) {
      best = &each;
      best_load = load;
    }
  }
  if (best == nullptr) fail("a simulated thread may run on none of the machine's CPUs");
  return *best;
}

}  // namespace

void resume_next() noexcept {
  go(&nowhere, next());
  __builtin_unreachable();
}

void switch_from(thread& me) noexcept {
  cpu* const to = next();
  if (to != nullptr && to->current == &me) {
    arm(*to);
    return;
  }
  go(&me.stack_pointer, to);
}

void clock_changed(cpu& which) noexcept {
  the.ready.move(which.number, clock_of(which));
  if (the.running != nullptr) arm(*the.running);
}

void make_ready(thread& which, cycles at) noexcept {
  cpu& where = place(which);
  which.ready_at = at;
  if (is_idle(where)) {
    start(where, which, at, false);  // `at` has what waking it costs
  } else {
    enqueue(where, which);
  }
  if (the.running != nullptr && the.running->current != nullptr) arm(*the.running);
}

void leave_cpu(cpu& me) noexcept {
  interrupts::slow_down_by_sibling(me);
  me.current = nullptr;
  thread* const next = me.queued != 0 ? dequeue(me) : steal(me);
  if (next != nullptr) {
    start(me, *next, next->ready_at, true);
  } else {
    me.meter.cycles_busy += clock_of(me) - me.busy_from;
    the.ready.remove(me.number);
  }
}

void requeue(cpu& me) noexcept {
  thread& was = *me.current;
  was.ready_at = clock_of(me);
  if (!allows(was, me)) {
    leave_cpu(me);
    make_ready(was, was.ready_at);
    return;
  }
  thread* const next = dequeue(me);
  enqueue(me, was);
  start(me, *next, next->ready_at, true);
}

void set_timer(thread& which, cycles at) noexcept { timers::add(which, at); }

void reset() noexcept {
  the.ready.clear();
  timers::reset();
}

void enter() noexcept {
  host_storage = context::storage();
  go(&host_stack, next());
}

void finish() noexcept {
  go(&nowhere, nullptr);
  __builtin_unreachable();
}

}  // namespace dispatch
}  // namespace unlatch::lab
