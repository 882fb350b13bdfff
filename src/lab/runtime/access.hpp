// SPDX-License-Identifier: Apache-2.0
//
// An access of the program, of any size, as a sequence of accesses to lines.
#pragma once

#include "explore.hpp"
#include "footprint.hpp"
#include "hierarchy.hpp"
#include "tracking.hpp"
#include "waiting.hpp"

namespace unlatch::lab {

/// What an access may do besides: `joined` accesses belong to the one before, nothing runs between;
/// `ordered` and `atomic` ones, which change what threads agree on, never run ahead, or the CPU
/// that releases a lock would have it again before others can see it free.
enum class access_kind : std::uint8_t { plain, joined, ordered, atomic };

/// Another thread's stack: from now on it is tracked like all memory. A transaction that its owner
/// runs has not tracked it until now, and ends; later ones leave out what others write when they
/// copy the stack back.
void touch_foreign_stack(const cpu& me, std::uintptr_t address, std::size_t bytes,
                         bool write) noexcept;

[[gnu::always_inline]] inline bool on_some_stack(std::uintptr_t address) noexcept {
  return address - stacks_address < most_threads * stack_bytes;
}

/// Whether touch_foreign_stack() would do nothing, or only note what nobody asks for.
[[gnu::always_inline]] inline bool is_plain_memory(const cpu& me, std::uintptr_t address,
                                                   bool write) noexcept {
  if (!on_some_stack(address)) return true;
  const thread& owner = the.threads[(address - stacks_address) / stack_bytes];
  return owner.stack_seen && (!write || &owner == me.current);
}

/// As touch(), for an access that is_private() and finds the line in the L1.
template <bool write>
[[gnu::always_inline]] inline void hit(cpu& me, const request& wanted, std::uintptr_t address,
                                       std::uint32_t way, const access_costs& costs) noexcept {
  line_record& record = the.lines[wanted.line];
  the.cores[me.core].l1.touch(l1_set(wanted.line), way);
  if (write) {
    record.owner = static_cast<std::uint8_t>(me.core + 1);
    record.dirty = 1;
    if (me.sibling != nullptr) me.sibling->disturbed = true;
  }
  clock_of(me) += costs.l1;
  if (me.tx.depth != 0) track(me, wanted, record);
  remember_tag(me, wanted, address / line_bytes, record);
}

/// A plain access that stays in one line, hits the L1, and needs not wait for anybody: most of what
/// the inlined fast path leaves over. False if it is not such, and nothing has been done.
template <bool write>
[[gnu::always_inline]] inline bool simple_access(std::uintptr_t address, std::size_t bytes,
                                                 std::uintptr_t code) noexcept {
  cpu& me = *the.running;
  if (clock_of(me) > unlatch_lab_fast.limit || (address & 63) + bytes > 64 ||
      !is_plain_memory(me, address, write) ||
      (write && me.sibling != nullptr && me.sibling->asleep)) {
    return false;
  }
  const std::uint32_t line = the.lines.line_of(address);
  if (!is_private(me, the.lines[line], write)) return false;
  const std::uint32_t way = the.cores[me.core].l1.find(l1_set(line), line);
  if (way == tag_array::absent) return false;
  ++me.meter.accesses;
  if (write) {
    me.wrote = true;
    if (me.tx.depth != 0) log_write(me.tx, address, bytes);
  }
  hit<write>(me, {line, write, byte_mask(address, bytes), code}, address, way,
             the.costs[write ? 1 : 0]);
  return true;
}

template <bool write>
[[gnu::always_inline]] inline void access_line(std::uintptr_t address, std::size_t bytes,
                                               access_kind kind, const access_costs& costs,
                                               std::uintptr_t code) noexcept {
  const std::uint32_t line = the.lines.line_of(address);
  cpu* me = the.running;
  bool alone = is_private(*me, the.lines[line], write);
  if (kind != access_kind::joined && clock_of(*me) > the.switch_limit &&
      (clock_of(*me) > unlatch_lab_fast.limit || !alone || kind >= access_kind::ordered)) {
    catch_up(code);
    me = the.running;  // the thread may have moved
    alone = is_private(*me, the.lines[line], write);
  }
  std::uint32_t way = the.cores[me->core].l1.find(l1_set(line), line);
  while (the.asleep != 0 && waiting::wake_for(*me, line, write, way != tag_array::absent) &&
         kind != access_kind::joined) {
    catch_up(code);
    me = the.running;
    alone = is_private(*me, the.lines[line], write);
    way = the.cores[me->core].l1.find(l1_set(line), line);
  }
  if (write) me->wrote = true;
  if (alone && way != tag_array::absent) {
    hit<write>(*me, {line, write, byte_mask(address, bytes), code}, address, way, costs);
    return;
  }
  touch(*me, {line, write, byte_mask(address, bytes), code}, way, costs);
}

/// What the hook unlatch_lab_atomic does where the access is no hit; `code` is whom to blame.
UNLATCH_LAB_HOOK void atomic_access(void* address, std::uint32_t size, std::uint32_t what,
                                    std::uint32_t cost, const void* code);

/// Makes the access. REQUIRES: a simulation runs. Does not return if the transaction aborts.
template <bool write>
[[gnu::always_inline]] inline void access(std::uintptr_t address, std::size_t bytes,
                                          access_kind kind, std::uintptr_t code) noexcept {
  cpu* me = the.running;
  ++me->meter.accesses;
  const auto is_own_stack = [=] { return address - unlatch_lab_fast.stack_base < stack_bytes; };
  if (is_own_stack()) {
    ++me->meter.stack_accesses;
    clock_of(*me) += unlatch_lab_fast.stack_cost;
    // A loop that waits for others to write here must let them run, though.
    if (kind == access_kind::joined || clock_of(*me) <= unlatch_lab_fast.limit) return;
    if (the.strategy == nullptr) catch_up(code);
  }
  if (the.strategy != nullptr && kind != access_kind::joined) [[unlikely]] {
    using point = scheduling_point::kind;
    explore::consider(
        kind >= access_kind::ordered ? point::atomic : (write ? point::write : point::read),
        address, static_cast<std::uint32_t>(bytes), code);
    kind = access_kind::joined;
  }
  if (is_own_stack()) return;
  me = the.running;  // the thread may have moved
  if (on_some_stack(address)) [[unlikely]] {
    touch_foreign_stack(*me, address, bytes, write);
  }
  const access_costs& costs = the.costs[kind == access_kind::atomic ? 2 : (write ? 1 : 0)];
  const std::uintptr_t end = address + bytes;
  for (std::uintptr_t at = address; at < end;) {
    const std::uintptr_t next = (at | 63) + 1;
    const std::uintptr_t stop = next < end ? next : end;
    access_line<write>(at, stop - at, at == address ? kind : access_kind::joined, costs, code);
    at = stop;
  }
  me = the.running;
  if (write && me->tx.depth != 0) log_write(me->tx, address, bytes);
}

}  // namespace unlatch::lab
