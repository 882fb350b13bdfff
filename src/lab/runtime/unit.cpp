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

// Others have touched this thread's stack. What their transactions have written there must not get
// into the copy, and their fast paths must ask from now on.
void take_back_stack(const cpu& me, std::uintptr_t from) noexcept {
  const std::uintptr_t top = me.current->stack + stack_bytes;
  for (std::uintptr_t at = from & ~std::uintptr_t{63}; at < top; at += 64) {
    const line_record& record = the.lines[the.lines.line_of(at)];
    if (record.writer == 0 || record.writer == me.number + 1) continue;
    abort_other(the.cpus[record.writer - 1], abort_status::conflict | abort_status::retry,
                abort_reason::conflict, clock_of(me));
  }
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
  tx.elided_lock = 0;
  if (owner.stack_seen) take_back_stack(me, stack);
  tx.stack_bytes = owner.stack + stack_bytes - stack;
  std::memcpy(tx.stack_copy, reinterpret_cast<const void*>(stack), tx.stack_bytes);
  std::memcpy(tx.exceptions, owner.exceptions, sizeof tx.exceptions);
  if (the.blame) tx.accesses.begin();
  tx.depth = 1;
  unlatch_lab_fast.in_transaction = 1;
  forget_tags(me);
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
  tx.foreign_writes.clear();
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

// XEND, or the XRELEASE that ends an elision, at `code`.
void end_transaction(std::uintptr_t code) noexcept {
  const transaction_unit& unit = the.rules.transactions;
  clock_of(*the.running) += the.running->tx.elided ? unit.hle_commit : unit.commit;
  reach(scheduling_point::kind::commit, code);
  cpu& me = *the.running;
  if (me.tx.depth > 1) {
    --me.tx.depth;
  } else {
    commit(me);
  }
}

}  // namespace
}  // namespace unlatch::lab

#pragma GCC visibility push(default)
extern "C" {

std::uint32_t unlatch_lab_begin_elided() noexcept;

/// The second half of unlatch_lab_begin and unlatch_lab_begin_elided (context.cpp), which have put
/// the registers on the stack.
std::uint32_t unlatch_lab_begin_at(std::uintptr_t stack, bool elided) noexcept {
  const transaction_unit& unit = the.rules.transactions;
  if (the.running == nullptr || !(elided ? unit.hle : unit.rtm)) return 0;
  constexpr std::size_t saved_registers = 6;
  const std::uintptr_t code = reinterpret_cast<std::uintptr_t*>(stack)[saved_registers];
  // Nobody can notice a begin, so it may run ahead; unless an interrupt is due.
  if (the.strategy != nullptr || clock_of(*the.running) > unlatch_lab_fast.limit) {
    reach(scheduling_point::kind::begin, code);
  }
  cpu& me = *the.running;
  if (me.tx.depth != 0) {
    nest(me, code);
  } else {
    begin_outermost(me, stack, code, elided);
  }
  clock_of(me) += elided ? unit.hle_begin : unit.begin;
  return abort_status::started;
}

void unlatch_lab_commit() noexcept {
  if (the.running == nullptr || the.running->tx.depth == 0) {
    fail("a transaction was committed outside any (a general protection fault on hardware)");
  }
  end_transaction(code_of(__builtin_return_address(0)));
}

void unlatch_lab_abort(std::uint8_t code) noexcept {
  if (the.running == nullptr || the.running->tx.depth == 0) return;
  abort_self(abort_status::explicit_abort | std::uint32_t{code} << 24, abort_reason::explicit_code,
             code_of(__builtin_return_address(0)));
}

std::uint32_t unlatch_lab_elided_exchange(std::uint32_t* lock, std::uint32_t value) noexcept {
  constexpr auto sequential = static_cast<std::uint32_t>(order::sequential) << 4;
  const void* const code = __builtin_return_address(0);
  if (unlatch_lab_begin_elided() == abort_status::started) {
    if (the.running->tx.depth == 1) the.running->tx.begin_code = code_of(code);
    // The lock joins the read set; its store is left out, so other CPUs see it as it was.
    atomic_access(lock, sizeof *lock,
                  static_cast<std::uint32_t>(atomic_operation::load) | sequential, 0, code);
    the.running->tx.elided_lock = code_of(lock);
    return *lock;
  }
  atomic_access(lock, sizeof *lock,
                static_cast<std::uint32_t>(atomic_operation::exchange) | sequential, 0, code);
  const std::uint32_t before = *lock;
  *lock = value;
  return before;
}

void unlatch_lab_elided_store(std::uint32_t* lock, std::uint32_t value) noexcept {
  const void* const code = __builtin_return_address(0);
  if (the.running != nullptr && the.running->tx.depth != 0 &&
      the.running->tx.elided_lock == code_of(lock)) {
    end_transaction(code_of(code));
    return;
  }
  constexpr auto release = static_cast<std::uint32_t>(order::release) << 4;
  atomic_access(lock, sizeof *lock, static_cast<std::uint32_t>(atomic_operation::store) | release,
                0, code);
  *lock = value;
}

bool unlatch_lab_active() noexcept { return the.running != nullptr && the.running->tx.depth != 0; }

// Data, not a function: on hardware this is a load, too.
bool unlatch_lab_has_transactions = false;

}  // extern "C"
#pragma GCC visibility pop
