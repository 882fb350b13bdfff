// SPDX-License-Identifier: Apache-2.0
#include "abort.hpp"

#include <cstring>

#include "blame.hpp"
#include "context.hpp"
#include "dispatch.hpp"
#include "heap.hpp"
#include "hierarchy.hpp"

namespace unlatch::lab {

namespace {

// What abort_self() hands to the code that runs after it has left the thread's stack.
struct {
  std::uint32_t status;
  abort_reason why;
} leaving;

// The CPUs that lost a line during the running access.
struct {
  bool self;
  std::uint32_t line;
  abort_reason why;
} losses;

std::uint32_t status_of(abort_reason why) noexcept {
  switch (why) {
    case abort_reason::conflict:
      return abort_status::conflict | abort_status::retry;
    case abort_reason::write_capacity:
    case abort_reason::read_capacity:
      return abort_status::capacity;
    case abort_reason::nesting:
      return abort_status::nested;
    default:
      return 0;
  }
}

// What others have written on the stack meanwhile goes into the copy before the copy goes back.
void put_stack_back(transaction& tx) noexcept {
  const std::uintptr_t top = tx.begin_stack + tx.stack_bytes;
  for (const foreign_write& each : tx.foreign_writes) {
    if (each.address < tx.begin_stack || each.address + each.bytes > top) continue;
    std::memcpy(tx.stack_copy + (each.address - tx.begin_stack),
                reinterpret_cast<const void*>(each.address), each.bytes);
  }
  tx.foreign_writes.clear();
  std::memcpy(reinterpret_cast<void*>(tx.begin_stack), tx.stack_copy, tx.stack_bytes);
}

// Puts the simulated state back to begin, at `now`.
void roll_back(cpu& victim, std::uint32_t status, abort_reason why, cycles now) noexcept {
  transaction& tx = victim.tx;
  if (tx.depth > 1) status |= abort_status::nested;
  for (std::size_t i = tx.undo.size(); i-- > 0;) {
    *reinterpret_cast<std::uint64_t*>(tx.undo[i].address) = tx.undo[i].value;
  }
  tx.undo.clear();
  forget_tags(victim);
  for (const std::uint32_t line : tx.lines) {
    line_record& record = the.lines[line];
    record.readers[victim.hardware_thread] &= ~victim.core_bit;
    if (record.writer == victim.number + 1) {
      record.writer = 0;
      // The changed line is dropped; what it was before is in the next level.
      the.cores[victim.core].l1.remove(l1_set(line), line);
      if (victim.sibling != nullptr) {
        victim.sibling->read_tags[line & (tag_entries - 1)] = 0;
        victim.sibling->write_tags[line & (tag_entries - 1)] = 0;
      }
      if (record.owner == victim.core + 1) record.dirty = 0;
    }
  }
  tx.lines.clear();
  heap::roll_back(tx);
  thread& owner = *victim.current;
  std::memcpy(owner.exceptions, tx.exceptions, sizeof tx.exceptions);
  put_stack_back(tx);
  owner.stack_pointer = tx.begin_stack;
  owner.resume_value = status;
  cycles& clock = clock_of(victim);
  clock = now > tx.begin_clock ? now : tx.begin_clock;
  victim.meter.cycles_in_transactions += clock - tx.begin_clock;
  ++victim.meter.aborts[static_cast<std::size_t>(why)];
  ++(tx.elided ? victim.meter.hle_aborted : victim.meter.aborted);
  clock += the.rules.transactions.abort;
  if (why == abort_reason::interrupt) clock += the.rules.system.interrupt;
  victim.slowed_until = clock;
  tx.depth = 0;
}

[[noreturn]] void finish_abort_of_self() {
  cpu& me = *the.running;
  roll_back(me, leaving.status, leaving.why, clock_of(me));
  dispatch::resume_next();
}

}  // namespace

void abort_other(cpu& victim, std::uint32_t status, abort_reason why, cycles at) noexcept {
  roll_back(victim, status, why, at);
  dispatch::clock_changed(victim);
}

void abort_self(std::uint32_t status, abort_reason why, std::uintptr_t code) noexcept {
  if (the.blame) blame::note_abort(*the.running, status, why, code);
  leaving = {status, why};
  context::leave_for(finish_abort_of_self);
}

void abort_for(cpu& victim, const request& wanted, const cpu& me) noexcept {
  const cycles now = clock_of(me);
  if (the.blame) blame::note_conflict(victim, wanted, me);
  abort_other(victim, status_of(abort_reason::conflict), abort_reason::conflict, now);
}

void lose(cpu& victim, abort_reason why, std::uint32_t line) noexcept {
  if (victim.tx.depth == 0) return;
  if (&victim == the.running) {
    if (!losses.self) losses = {true, line, why};
    return;
  }
  if (the.blame) blame::note_capacity(victim, why, line, 0);
  abort_other(victim, status_of(why), why, clock_of(*the.running));
}

void finish_losses(std::uintptr_t code) noexcept {
  if (!losses.self) [[likely]]
    return;
  losses.self = false;
  if (the.blame) blame::note_capacity(*the.running, losses.why, losses.line, code);
  leaving = {status_of(losses.why), losses.why};
  context::leave_for(finish_abort_of_self);
}

void first_touch(cpu& me, const request& wanted) noexcept {
  const bool in_transaction = me.tx.depth != 0;
  if (the.lines.page_touched(wanted.line, in_transaction)) [[likely]]
    return;
  if (in_transaction) {
    losses.self = false;
    abort_self(0, abort_reason::page_fault, wanted.code);
  }
  ++me.meter.page_faults;
  clock_of(me) += the.rules.system.page_fault;
}

}  // namespace unlatch::lab
