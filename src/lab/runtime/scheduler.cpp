// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include "abort.hpp"
#include "context.hpp"
#include "dispatch.hpp"
#include "explore.hpp"
#include "interrupts.hpp"
#include "storage.hpp"
#include "threads.hpp"

namespace __cxxabiv1 {
extern "C" void* __cxa_get_globals();
}

namespace unlatch::lab {

namespace threads {

namespace {

// Where a new thread begins.
void begin_thread() {
  thread& me = *the.running->current;
  me.exceptions = static_cast<std::uint64_t*>(__cxxabiv1::__cxa_get_globals());
  scheduler::exit(me.entry(me.argument));
}

std::uint32_t free_numbers[most_threads];
std::uint32_t free_count;

}  // namespace

void reset() noexcept {
  if (the.threads == nullptr) {
    the.threads = static_cast<thread*>(reserve(most_threads * sizeof(thread)));
  }
  the.threads_used = 0;
  the.threads_alive = 0;
  free_count = 0;
}

thread* make(void* (*entry)(void*), void* argument) noexcept {
  std::uint32_t number = the.threads_used;
  if (free_count != 0) {
    number = free_numbers[--free_count];
  } else if (number == most_threads) {
    return nullptr;
  } else {
    ++the.threads_used;
  }
  cpu* const caller = the.running;
  the.running = nullptr;  // the C library serves the host while it makes a thread
  thread& made = the.threads[number];
  const std::uint32_t timer = made.timer + 1;
  made = {};
  made.number = number;
  made.state = thread_state::blocked;
  made.timer = timer;
  made.stack = storage::stack_of(number);
  made.storage = storage::fresh(number);
  the.running = caller;
  made.stack_pointer = context::prepare(made.stack + stack_bytes - 64, begin_thread);
  made.entry = entry;
  made.argument = argument;
  made.affinity[0] = made.affinity[1] = ~std::uint64_t{0};
  if (caller != nullptr) {
    made.last_cpu = caller->number;
    made.affinity[0] = caller->current->affinity[0];
    made.affinity[1] = caller->current->affinity[1];
  }
  ++the.threads_alive;
  return &made;
}

void release(thread& which) noexcept {
  which.state = thread_state::free;
  free_numbers[free_count++] = which.number;
}

}  // namespace threads

#define CALLER __builtin_return_address(0)

namespace scheduler {

namespace {

std::uintptr_t code_of(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

// What follows cannot be part of a transaction. `caller` is where the program asked for it.
void leave_transaction(const void* caller) noexcept {
  if (the.running->tx.depth != 0) abort_self(0, abort_reason::system_call, code_of(caller));
}

// The running thread stops running until something makes it ready.
void stop_running() noexcept {
  lab::cpu& me = *the.running;
  thread& self = *me.current;
  self.state = thread_state::blocked;
  dispatch::leave_cpu(me);
  dispatch::switch_from(self);
}

}  // namespace

thread* self() noexcept { return the.running == nullptr ? nullptr : the.running->current; }

unsigned id(const thread* which) noexcept { return which->number; }

void*& os_data(thread* which) noexcept { return which->os; }

thread* create(void* (*entry)(void*), void* argument, cycles delay) noexcept {
  leave_transaction(CALLER);
  thread* const made = threads::make(entry, argument);
  if (made != nullptr) dispatch::make_ready(*made, now() + delay);
  return made;
}

void* result(const thread* which) noexcept { return which->result; }

bool has_exited(const thread* which) noexcept { return which->state == thread_state::exited; }

void release(thread* which) noexcept { threads::release(*which); }

void block() noexcept {
  leave_transaction(CALLER);
  thread& self = *the.running->current;
  if (!self.wake_pending) stop_running();
  self.wake_pending = false;
}

bool block_until(cycles deadline) noexcept {
  leave_transaction(CALLER);
  thread& self = *the.running->current;
  if (self.wake_pending) {
    self.wake_pending = false;
    return true;
  }
  self.woken = true;
  dispatch::set_timer(self, deadline > now() ? deadline : now());
  stop_running();
  self.wake_pending = false;
  return self.woken;
}

void wake(thread* which, cycles delay) noexcept {
  leave_transaction(CALLER);
  if (which->state != thread_state::blocked) {
    which->wake_pending = true;
    return;
  }
  which->woken = true;
  ++which->timer;  // its timer is void
  dispatch::make_ready(*which, now() + delay);
}

void yield() noexcept {
  leave_transaction(CALLER);
  lab::cpu& me = *the.running;
  thread& self = *me.current;
  if (me.queued != 0) {
    dispatch::requeue(me);
  } else if (!dispatch::allows(self, me)) {
    dispatch::leave_cpu(me);
    dispatch::make_ready(self, clock_of(me));
  } else {
    the.ready.move(me.number, clock_of(me));
  }
  dispatch::switch_from(self);
}

void exit(void* value) noexcept {
  leave_transaction(CALLER);
  lab::cpu& me = *the.running;
  thread& self = *me.current;
  self.result = value;
  --the.threads_alive;
  dispatch::leave_cpu(me);
  self.state = thread_state::exited;
  dispatch::resume_next();
}

cycles now() noexcept { return the.running == nullptr ? 0 : clock_of(*the.running); }

std::uint64_t nanoseconds(cycles time) noexcept { return the.rules.ns_of_cycles(time); }
cycles from_nanoseconds(std::uint64_t time) noexcept { return the.rules.cycles_of_ns(time); }

void charge(cycles time) noexcept {
  if (the.running != nullptr) clock_of(*the.running) += time;
}

void enter_kernel() noexcept {
  if (the.running == nullptr) return;
  leave_transaction(CALLER);
  lab::cpu& me = *the.running;
  ++me.meter.system_calls;
  clock_of(me) += the.rules.system.system_call;
  if (the.strategy != nullptr) {
    explore::consider(scheduling_point::kind::kernel, 0, 0, code_of(CALLER));
    return;
  }
  synchronize(code_of(CALLER));
}

unsigned cpu() noexcept { return the.running == nullptr ? 0 : the.running->number; }
unsigned cpus() noexcept { return the.rules.cpus(); }

void set_affinity(thread* which, const std::uint64_t (&mask)[2]) noexcept {
  which->affinity[0] = mask[0];
  which->affinity[1] = mask[1];
  if (which == self() && !dispatch::allows(*which, *the.running)) yield();
}

void affinity(const thread* which, std::uint64_t (&mask)[2]) noexcept {
  mask[0] = which->affinity[0];
  mask[1] = which->affinity[1];
}

void interrupt_all() noexcept {
  leave_transaction(CALLER);
  for (std::uint32_t i = 0; i < the.rules.cpus(); ++i) interrupts::send(the.cpus[i]);
}

}  // namespace scheduler
}  // namespace unlatch::lab
