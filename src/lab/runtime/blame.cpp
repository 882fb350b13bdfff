// SPDX-License-Identifier: Apache-2.0
#include "blame.hpp"

#include <algorithm>

#include "call_chain.hpp"
#include "heap.hpp"
#include "os/os.hpp"

namespace unlatch::lab::blame {

namespace {

host_array<conflict_record> conflicts;
host_array<capacity_record> capacities;
host_array<abort_record> aborts;

object_record object_at(std::uintptr_t address) noexcept {
  heap::block block{};
  if (heap::find(address, block)) return {block.begin, block.bytes, block.code, ~0u};
  const std::uintptr_t offset = address - stacks_address;
  if (offset < most_threads * stack_bytes) {
    return {0, 0, 0, static_cast<std::uint32_t>(offset / stack_bytes)};
  }
  return {0, 0, 0, ~0u};
}

cycles wasted(const cpu& victim, cycles now) noexcept {
  return now > victim.tx.begin_clock ? now - victim.tx.begin_clock : 0;
}

// Of the owner's accesses to the line, the one that the request collides with: the first that has a
// byte in common, where that is what makes the conflict, else the first that does.
footprint::access find_owner(cpu& victim, const request& wanted) noexcept {
  footprint& all = victim.tx.accesses;
  footprint::access chosen{};
  bool found = false;
  for (const auto* each = all.first(wanted.line); each != nullptr; each = all.next(each)) {
    if (!wanted.write && each->write == 0) continue;
    if ((each->bytes & wanted.bytes) != 0) return *each;
    if (!found) chosen = *each;
    found = true;
  }
  return chosen;
}

template <class Record, class Same>
Record& find_or_add(host_array<Record>& list, Same&& same, const Record& fresh) noexcept {
  for (Record& each : list) {
    if (same(each)) return each;
  }
  list.push(fresh);
  return list.back();
}

}  // namespace

void note_conflict(cpu& victim, const request& wanted, const cpu& me) noexcept {
  const footprint::access owned = find_owner(victim, wanted);
  const std::uintptr_t line = the.lines.address_of(wanted.line);
  conflict_record fresh{};
  fresh.owner = {owned.code, owned.write != 0, 0};
  const std::uintptr_t code = os::program_code(wanted.code);
  fresh.requester = {code, wanted.write, 0};
  fresh.begun_at = victim.tx.begin_code;
  fresh.line = line;
  fresh.object = object_at(line | static_cast<std::uintptr_t>(__builtin_ctzll(wanted.bytes)));
  conflict_record& record = find_or_add(
      conflicts,
      [&](const conflict_record& each) {
        return each.owner.code == fresh.owner.code && each.requester.code == code &&
               each.owner.write == fresh.owner.write && each.requester.write == wanted.write &&
               each.object.code == fresh.object.code;
      },
      fresh);
  record.owner.bytes |= owned.bytes;
  record.requester.bytes |= wanted.bytes;
  ++record.count;
  record.true_sharing += (owned.bytes & wanted.bytes) != 0;
  record.in_transaction += me.tx.depth != 0;
  record.wasted_cycles += wasted(victim, clock_of(me));
}

void note_capacity(cpu& victim, abort_reason why, std::uint32_t line,
                   std::uintptr_t code) noexcept {
  code = os::program_code(code);
  capacity_record fresh{};
  fresh.code = code;
  fresh.begun_at = victim.tx.begin_code;
  fresh.reads = why == abort_reason::read_capacity;
  capacity_record& record = find_or_add(
      capacities,
      [&](const capacity_record& each) { return each.code == code && each.reads == fresh.reads; },
      fresh);
  ++record.count;
  record.wasted_cycles += wasted(victim, clock_of(*the.running));
  record.set = l1_set(line);
  record.tracked_lines = static_cast<std::uint32_t>(victim.tx.lines.size());
  record.lines_count = 0;
  for (const std::uint32_t each : victim.tx.lines) {
    if (l1_set(each) != record.set) continue;
    if (!fresh.reads && the.lines[each].writer != victim.number + 1) continue;
    if (record.lines_count == capacity_record::most_lines) break;
    const auto* const access = victim.tx.accesses.first(each);
    record.lines[record.lines_count] = the.lines.address_of(each);
    record.lines_code[record.lines_count++] = access == nullptr ? 0 : access->code;
  }
}

void note_abort(cpu& me, std::uint32_t status, abort_reason why, std::uintptr_t code) noexcept {
  code = os::program_code(code);
  abort_record fresh{};
  fresh.reason = static_cast<std::uint32_t>(why);
  fresh.status = status;
  fresh.code = code;
  fresh.callers = callers_of(code);
  fresh.begun_at = me.tx.begin_code;
  const footprint::place last = me.tx.accesses.last();
  if (last.bytes != 0) {
    fresh.last_access =
        the.lines.address_of(last.line) | static_cast<std::uintptr_t>(__builtin_ctzll(last.bytes));
    fresh.object = object_at(fresh.last_access);
  }
  abort_record& record = find_or_add(
      aborts,
      [&](const abort_record& each) {
        return each.code == code && each.reason == fresh.reason && each.status == status &&
               each.object.code == fresh.object.code && each.callers == fresh.callers;
      },
      fresh);
  ++record.count;
  record.wasted_cycles += wasted(me, clock_of(me));
}

void begin_run() noexcept {
  conflicts.clear();
  capacities.clear();
  aborts.clear();
}

void end_run(blame_lists& out) noexcept {
  const auto most_wasted = [](const auto& a, const auto& b) {
    return a.wasted_cycles > b.wasted_cycles;
  };
  std::sort(conflicts.begin(), conflicts.end(), most_wasted);
  std::sort(capacities.begin(), capacities.end(), most_wasted);
  std::sort(aborts.begin(), aborts.end(), most_wasted);
  out = {conflicts.begin(), conflicts.size(), capacities.begin(),
         capacities.size(), aborts.begin(),   aborts.size()};
}

}  // namespace unlatch::lab::blame
