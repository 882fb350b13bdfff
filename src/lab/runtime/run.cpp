// SPDX-License-Identifier: Apache-2.0
//
// One run of the simulated machine, from host mode to host mode (lab.hpp).
#include <cstdio>

#include "../lab.hpp"
#include "blame.hpp"
#include "context.hpp"
#include "dispatch.hpp"
#include "explore.hpp"
#include "heap.hpp"
#include "hierarchy.hpp"
#include "interrupts.hpp"
#include "os/os.hpp"
#include "storage.hpp"
#include "threads.hpp"
#include "waiting.hpp"

extern "C" bool unlatch_lab_has_transactions;  // htm.hpp

namespace unlatch::lab {

namespace {

struct {
  void (*body)(void*);
  void* argument;
  cycles end;
  bool ended;
} task;

// The first simulated thread.
void* run_body(void*) {
  task.body(task.argument);
  os::main_ends();
  interrupts::slow_down_by_sibling(*the.running);
  task.end = clock_of(*the.running);
  task.ended = true;
  dispatch::finish();
}

// What an access charges: its latency, less what the core hides of it.
access_costs costs_with(permille overlap) noexcept {
  const model& rules = the.rules;
  const auto charged = [&](std::uint32_t latency) {
    const std::uint32_t visible = (latency * (1000 - overlap) + 500) / 1000;
    return visible == 0 ? 1 : visible;
  };
  const interconnect& beyond = rules.beyond;
  return {charged(rules.l1d.latency),
          charged(rules.l2.latency),
          charged(rules.l3.latency),
          charged(beyond.clean_in_other_core),
          charged(beyond.dirty_in_other_core),
          charged(beyond.clean_in_other_socket),
          charged(beyond.dirty_in_other_socket),
          charged(beyond.memory),
          charged(beyond.upgrade)};
}

void open_cpus() noexcept {
  if (the.cpus == nullptr) the.cpus = static_cast<cpu*>(reserve(most_cpus * sizeof(cpu)));
  const model& rules = the.rules;
  for (std::uint32_t i = 0; i < rules.cpus(); ++i) {
    cpu& each = the.cpus[i];
    transaction& tx = each.tx;
    if (tx.stack_copy == nullptr) tx.stack_copy = static_cast<std::uint8_t*>(reserve(stack_bytes));
    tx.depth = 0;
    tx.undo.clear();
    tx.foreign_writes.clear();
    tx.lines.clear();
    tx.allocated.clear();
    tx.freed.clear();
    each.meter = {};
    each.tags_set = most_tags_set + 1;
    forget_tags(each);
    each.number = i;
    each.core = rules.core_of(i);
    each.socket = rules.socket_of(i);
    each.hardware_thread = i / rules.cores_per_socket % rules.threads_per_core;
    each.core_bit = std::uint64_t{1} << each.core;
    each.sibling = nullptr;
    if (rules.threads_per_core == 2) {
      each.sibling = &the.cpus[each.hardware_thread == 0 ? i + rules.cores_per_socket
                                                         : i - rules.cores_per_socket];
    }
    each.current = each.queue_head = each.queue_tail = nullptr;
    each.queued = 0;
    each.asleep = false;
    each.wrote = each.disturbed = true;
    each.slice_end = each.slowed_until = 0;
    the.clocks[i] = 0;
    interrupts::begin_run(each);
  }
}

void check(const model& rules) noexcept {
  if (rules.cores() == 0 || rules.cores() > most_cores || rules.cpus() > most_cpus ||
      rules.threads_per_core > 2 || rules.sockets > most_sockets) {
    fail("the model has no CPUs, or more than the lab simulates (64 cores of 2 threads)");
  }
  const auto is_power = [](std::uint32_t x) { return x != 0 && (x & (x - 1)) == 0; };
  if (!is_power(rules.l1d.sets()) || rules.l1d.sets() < tag_entries || !is_power(rules.l2.sets()) ||
      rules.l1d.ways > 32 || rules.l2.ways > 32 || rules.l3.ways > 32 || rules.l3.sets() == 0 ||
      rules.system.page_bytes < 4096) {
    fail("the model's caches need a power of two of sets, at least 64, and at most 32 ways");
  }
}

// The hits that the inlined fast path serves cost the same everywhere.
void open_machine(const model& rules, const options& how) noexcept {
  check(rules);
  the.rules = rules;
  the.run_ahead = how.run_ahead;
  the.blame = how.blame;
  the.pass_over_spinning = how.pass_over_spinning;
  the.strategy = how.strategy;
  the.time_limit = how.most_cycles == 0 ? never : how.most_cycles;
  the.chance = random(how.seed);
  unlatch_lab_has_transactions = rules.transactions.rtm;
  the.lines.reset(heap::end(), heap::arena_address + heap::program_bytes, rules.system.page_bytes);
  the.costs[0] = costs_with(rules.core.load_overlap);
  the.costs[1] = costs_with(rules.core.store_overlap);
  the.costs[2] = costs_with(0);
  // A hit costs the slot it takes; where a chain of loads waits for it, the instrumented code's
  // block costs have the latency.
  the.costs[0].l1 = the.costs[1].l1 = 1;
  for (std::uint32_t i = 0; i < rules.cores(); ++i) {
    the.cores[i].l1.open(rules.l1d.sets(), rules.l1d.ways);
    the.cores[i].l2.open(rules.l2.sets(), rules.l2.ways);
  }
  for (std::uint32_t i = 0; i < rules.sockets; ++i) the.l3[i].open(rules.l3.sets(), rules.l3.ways);
  unlatch_lab_fast.stack_cost = 1;
  unlatch_lab_fast.read_hit_cost = the.costs[0].l1;
  unlatch_lab_fast.write_hit_cost = the.costs[1].l1;
  unlatch_lab_fast.accesses = 0;
  open_cpus();
  threads::reset();
  dispatch::reset();
  explore::begin_run();
  waiting::begin_run();
  blame::begin_run();
}

void sum(counters& all) noexcept {
  all = {};
  for (std::uint32_t i = 0; i < the.rules.cpus(); ++i) {
    const cpu& each = the.cpus[i];
    all += each.meter;
    if (each.current != nullptr && !each.asleep) all.cycles_busy += the.clocks[i] - each.busy_from;
  }
  all.accesses += unlatch_lab_fast.accesses;
}

[[noreturn]] void report_deadlock() noexcept {
  std::fputs("unlatch-lab: deadlock: no simulated thread can go on\n", stderr);
  for (std::uint32_t i = 0; i < the.threads_used; ++i) {
    const thread& each = the.threads[i];
    if (each.state != thread_state::blocked) continue;
    char text[256] = "";
    os::describe(&each, text, sizeof text);
    std::fprintf(stderr, "  thread %u waits for %s\n", each.number, text);
  }
  fail("the simulated program cannot end");
}

}  // namespace
}  // namespace unlatch::lab

using namespace unlatch::lab;

#define VISIBLE __attribute__((visibility("default")))

extern "C" {

VISIBLE void unlatch_lab_run(const model* machine, const options* how, void (*body)(void*),
                             void* argument, run_result* result) {
  if (the.running != nullptr) fail("a run began inside another");
  if (the.out_of_time) fail("a run began after one that was given up, which left its threads");
  open_machine(*machine, *how);
  os::begin_run(*machine, how->seed);
  task = {body, argument, 0, false};
  thread* const first = threads::make(run_body, nullptr);
  dispatch::make_ready(*first, 0);
  dispatch::enter();
  if (the.out_of_time) {
    task.end = the.time_limit;
  } else if (!task.ended) {
    report_deadlock();
  } else {
    os::end_run();
  }
  unlatch_lab_has_transactions = false;
  result->finished = task.ended;
  result->cycles = task.end;
  result->seconds = static_cast<double>(task.end) / (the.rules.mhz * 1e6);
  sum(result->all);
  blame::end_run(result->blame);
}

VISIBLE std::uint64_t unlatch_lab_cycles() { return scheduler::now(); }
VISIBLE std::uint32_t unlatch_lab_cpu() { return scheduler::cpu(); }
VISIBLE void unlatch_lab_work(std::uint64_t amount) {
  scheduler::charge(amount);
  if (the.running != nullptr) {
    synchronize(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  }
}
VISIBLE void unlatch_lab_counters(counters* all) { sum(*all); }

}  // extern "C"
