// SPDX-License-Identifier: Apache-2.0
//
// The transaction unit's instructions: begin, commit, abort and test, as htm.hpp's lab backend and
// elided exchanges call them.
#include <cstring>

#include "abort.hpp"
#include "access.hpp"
#include "blame.hpp"
#include "explore.hpp"
#include "heap.hpp"

using namespace unlatch::lab;

namespace unlatch::lab {

namespace {

// Other CPUs may have lines of this thread's stack in their fast paths: they must ask from now on.
void hide_own_stack() noexcept {
  for (std::uint32_t i = 0; i < the.rules.cpus(); ++i) {
    if (the.cpus[i].current != nullptr) forget_tags(the.cpus[i]);
  }
}

void nest(cpu& me, std::uintptr_t code) noexcept {
  if (me.tx.depth >= the.rules.transactions.nesting_limit) {
    abort_self(0, abort_reason::nesting, code);
  }
  ++me.tx.depth;
}

void begin_outermost(cpu& me, std::uintptr_t stack, std::uintptr_t code, bool elided) noexcept {
  transaction& tx = me.tx;
  const thread& owner = *me.current;
  tx.begin_stack = stack;
  tx.begin_code = code;
  tx.begin_clock = clock_of(me);
  tx.read_overflow = 0;
  tx.elided = elided;
  tx.stack_bytes = owner.stack + stack_bytes - stack;
  std::memcpy(tx.stack_copy, reinterpret_cast<const void*>(stack), tx.stack_bytes);
  std::memcpy(tx.exceptions, owner.exceptions, sizeof tx.exceptions);
  if (the.blame) tx.accesses.begin();
  tx.depth = 1;
  unlatch_lab_fast.in_transaction = 1;
  if (owner.stack_seen) {
    hide_own_stack();
  } else {
    forget_tags(me);
  }
  ++(elided ? me.meter.hle_started : me.meter.started);
}

void commit(cpu& me) noexcept {
  transaction& tx = me.tx;
  for (const std::uint32_t line : tx.lines) {
    line_record& record = the.lines[line];
    record.readers[me.hardware_thread] &= ~me.core_bit;
    if (record.writer == me.number + 1) record.writer = 0;
  }
  tx.lines.clear();
  tx.undo.clear();
  heap::commit(tx);
  tx.depth = 0;
  unlatch_lab_fast.in_transaction = 0;
  const cycles took = clock_of(me) - tx.begin_clock;
  me.meter.cycles_in_transactions += took;
  me.meter.cycles_committed += took;
  ++(tx.elided ? me.meter.hle_committed : me.meter.committed);
}

std::uintptr_t code_of(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

void reach(scheduling_point::kind what, std::uintptr_t code) noexcept {
  if (the.strategy != nullptr) {
    explore::consider(what, 0, 0, code);
  } else {
    synchronize(code);
  }
}

}  // namespace
}  // namespace unlatch::lab

extern "C" {

/// The second half of unlatch_lab_begin (context.cpp), which has put the registers on the stack.
std::uint32_t unlatch_lab_begin_at(std::uintptr_t stack) noexcept {
  if (the.running == nullptr || !the.rules.transactions.rtm) return 0;
  constexpr std::size_t saved_registers = 6;
  const std::uintptr_t code = reinterpret_cast<std::uintptr_t*>(stack)[saved_registers];
  reach(scheduling_point::kind::begin, code);
  cpu& me = *the.running;
  if (me.tx.depth != 0) {
    nest(me, code);
  } else {
    begin_outermost(me, stack, code, false);
  }
  clock_of(me) += the.rules.transactions.begin;
  return abort_status::started;
}

void unlatch_lab_commit() noexcept {
  if (the.running == nullptr || the.running->tx.depth == 0) {
    fail("a transaction was committed outside any (a general protection fault on hardware)");
  }
  const std::uintptr_t code = code_of(__builtin_return_address(0));
  clock_of(*the.running) += the.rules.transactions.commit;
  reach(scheduling_point::kind::commit, code);
  cpu& me = *the.running;
  if (me.tx.depth > 1) {
    --me.tx.depth;
  } else {
    commit(me);
  }
}

void unlatch_lab_abort(std::uint8_t code) noexcept {
  if (the.running == nullptr || the.running->tx.depth == 0) return;
  abort_self(abort_status::explicit_abort | std::uint32_t{code} << 24, abort_reason::explicit_code,
             code_of(__builtin_return_address(0)));
}

bool unlatch_lab_active() noexcept { return the.running != nullptr && the.running->tx.depth != 0; }

bool unlatch_lab_has_transactions() noexcept {
  return the.running != nullptr && the.rules.transactions.rtm;
}

}  // extern "C"
