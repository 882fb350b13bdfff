// SPDX-License-Identifier: Apache-2.0
#include "hierarchy.hpp"

#include <bit>

#include "abort.hpp"
#include "tracking.hpp"
#include "waiting.hpp"

namespace unlatch::lab {

namespace {

std::uint32_t l2_set(std::uint32_t line) noexcept { return line & (the.cores[0].l2.sets() - 1); }

// Slices of a third level are chosen by a hash of the address.
std::uint32_t l3_set(std::uint32_t line) noexcept {
  const std::uint32_t hashed = line * 0x9e3779b1u;
  return static_cast<std::uint32_t>(std::uint64_t{hashed} * the.l3[0].sets() >> 32);
}

std::uint32_t socket_of_core(std::uint32_t core) noexcept {
  return core / the.rules.cores_per_socket;
}
std::uint64_t cores_of_socket(std::uint32_t socket) noexcept {
  const std::uint32_t count = the.rules.cores_per_socket;
  const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  return ones << (socket * count);
}

cpu& cpu_of(std::uint32_t core, std::uint32_t hardware_thread) noexcept {
  const std::uint32_t count = the.rules.cores_per_socket;
  const std::uint32_t socket = core / count;
  return the
      .cpus[socket * count * the.rules.threads_per_core + hardware_thread * count + core % count];
}

template <class Function>
void for_each_bit(std::uint64_t bits, Function&& function) noexcept {
  for (; bits != 0; bits &= bits - 1) {
    function(static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
}

// The hardware threads of a core may not go on by their fast path, nor, with `lost`, wait for the
// line as it was. Where only another core reads it too, their own reads must ask as well from now
// on, since they may not run ahead on a contended line.
void forget_tag(std::uint32_t core, std::uint32_t line, bool lost) noexcept {
  for (std::uint32_t i = 0; i < the.rules.threads_per_core; ++i) {
    cpu& which = cpu_of(core, i);
    which.read_tags[line & (tag_entries - 1)] = which.write_tags[line & (tag_entries - 1)] = 0;
    if (lost) waiting::wake(which, clock_of(*the.running));
  }
}

// Transactions of a core's hardware threads lose a line that leaves its L1.
void leave_l1(std::uint32_t core, std::uint32_t line) noexcept {
  const line_record& record = the.lines[line];
  if (record.writer != 0 && the.cpus[record.writer - 1].core == core) {
    lose(the.cpus[record.writer - 1], abort_reason::write_capacity, line);
  }
  for (std::uint32_t i = 0; i < the.rules.threads_per_core; ++i) {
    if ((record.readers[i] >> core & 1) == 0) continue;
    cpu& reader = cpu_of(core, i);
    const transaction_unit& unit = the.rules.transactions;
    if (++reader.tx.read_overflow > unit.read_lines ||
        (unit.read_loss != 0 && the.chance.below(1'000'000) < unit.read_loss)) {
      lose(reader, abort_reason::read_capacity, line);
    }
  }
}

void evict_from_l3(std::uint32_t socket, std::uint32_t line) noexcept {
  if (!the.rules.l3.inclusive) return;
  line_record& record = the.lines[line];
  for_each_bit(record.holders & cores_of_socket(socket), [&](std::uint32_t core) {
    forget_tag(core, line, true);
    if (the.cores[core].l1.find(l1_set(line), line) != tag_array::absent) leave_l1(core, line);
    drop_from_core(core, line);
  });
}

void put_into_l3(std::uint32_t socket, std::uint32_t line) noexcept {
  tag_array& l3 = the.l3[socket];
  if (l3.touch_if_present(l3_set(line), line)) return;
  const std::uint32_t leaves = l3.insert(l3_set(line), line);
  if (leaves != 0) evict_from_l3(socket, leaves);
}

void put_into_l2(std::uint32_t core, std::uint32_t line) noexcept {
  tag_array& l2 = the.cores[core].l2;
  if (l2.touch_if_present(l2_set(line), line)) return;
  const std::uint32_t leaves = l2.insert(l2_set(line), line);
  if (leaves == 0) return;
  line_record& record = the.lines[leaves];
  if (the.cores[core].l1.find(l1_set(leaves), leaves) == tag_array::absent) {
    record.holders &= ~(std::uint64_t{1} << core);
    if (record.owner == core + 1) record.owner = record.dirty = 0;
  }
  put_into_l3(socket_of_core(core), leaves);
}

// Waits until the line's last transfer has ended, and occupies it for `latency` from then.
std::uint32_t queue(cpu& me, line_record& record, std::uint32_t latency) noexcept {
  const auto now = static_cast<std::uint32_t>(clock_of(me));
  const auto behind = static_cast<std::int32_t>(record.busy_until - now);
  const std::uint32_t wait = behind > 0 && behind < static_cast<std::int32_t>(longest_queue)
                                 ? static_cast<std::uint32_t>(behind)
                                 : 0;
  record.busy_until = now + wait + latency;
  me.meter.queue_cycles += wait;
  return wait;
}

// What it costs to get the line into the core, and the changes to the caches that others see.
std::uint32_t fetch(cpu& me, const request& wanted, line_record& record,
                    const access_costs& costs) noexcept {
  const std::uint32_t line = wanted.line;
  const std::uint64_t others = record.holders & ~me.core_bit;
  tag_array& l2 = the.cores[me.core].l2;
  ++me.meter.l1_misses;
  if (record.owner != 0 && record.owner != me.core + 1) {  // another core has it, perhaps changed
    ++me.meter.l2_misses;
    ++me.meter.transfers;
    const std::uint32_t owner = record.owner - 1u;
    const bool near = socket_of_core(owner) == me.socket;
    const std::uint32_t charged = record.dirty != 0
                                      ? (near ? costs.dirty_core : costs.dirty_socket)
                                      : (near ? costs.clean_core : costs.clean_socket);
    const interconnect& beyond = the.rules.beyond;
    const std::uint32_t wait =
        queue(me, record, near ? beyond.dirty_in_other_core : beyond.dirty_in_other_socket);
    forget_tag(owner, line, wanted.write);
    put_into_l3(socket_of_core(owner), line);
    record.owner = record.dirty = 0;
    put_into_l2(me.core, line);
    return wait + charged;
  }
  if (l2.touch_if_present(l2_set(line), line)) {
    return wanted.write && others != 0 ? queue(me, record, the.rules.beyond.upgrade) + costs.upgrade
                                       : costs.l2;
  }
  ++me.meter.l2_misses;
  std::uint32_t charged = 0;
  if (the.l3[me.socket].touch_if_present(l3_set(line), line)) {
    charged = costs.l3;
  } else {
    ++me.meter.l3_misses;
    bool elsewhere = others != 0;
    for (std::uint32_t i = 0; i < the.rules.sockets && !elsewhere; ++i) {
      elsewhere = the.l3[i].find(l3_set(line), line) != tag_array::absent;
    }
    if ((others & cores_of_socket(me.socket)) != 0) {
      charged = costs.clean_core;
    } else if (elsewhere) {
      charged = costs.clean_socket;
    } else {
      first_touch(me, wanted);
      charged = costs.memory;
    }
    if (the.rules.l3.inclusive) put_into_l3(me.socket, line);
  }
  if (wanted.write && others != 0) {
    charged = queue(me, record, the.rules.beyond.upgrade) +
              (charged > costs.upgrade ? charged : costs.upgrade);
  }
  put_into_l2(me.core, line);
  return charged;
}

void take_from_transactions(cpu& me, const request& wanted, line_record& record) noexcept {
  if (record.writer != 0 && record.writer != me.number + 1) {
    abort_for(the.cpus[record.writer - 1], wanted, me);
  }
  if (!wanted.write) return;
  const reader_set readers = other_readers(me, record);
  for (std::uint32_t i = 0; i < 2; ++i) {
    for_each_bit(readers.cores[i],
                 [&](std::uint32_t core) { abort_for(cpu_of(core, i), wanted, me); });
  }
}

void take_from_other_cores(cpu& me, std::uint32_t line, line_record& record) noexcept {
  for_each_bit(record.holders & ~me.core_bit, [&](std::uint32_t core) {
    forget_tag(core, line, true);
    the.cores[core].l1.remove(l1_set(line), line);
    the.cores[core].l2.remove(l2_set(line), line);
  });
  // What other sockets keep of it is out of date from now on.
  for (std::uint32_t i = 0; i < the.rules.sockets; ++i) {
    if (i != me.socket) the.l3[i].remove(l3_set(line), line);
  }
  record.holders &= me.core_bit;
}

}  // namespace

void drop_from_core(std::uint32_t core, std::uint32_t line) noexcept {
  line_record& record = the.lines[line];
  the.cores[core].l1.remove(l1_set(line), line);
  the.cores[core].l2.remove(l2_set(line), line);
  record.holders &= ~(std::uint64_t{1} << core);
  if (record.owner == core + 1) record.owner = record.dirty = 0;
}

void touch(cpu& me, const request& wanted, std::uint32_t way, const access_costs& costs) noexcept {
  const std::uint32_t line = wanted.line;
  line_record& record = the.lines[line];
  tag_array& l1 = the.cores[me.core].l1;
  take_from_transactions(me, wanted, record);
  if (way != tag_array::absent && l1.at(l1_set(line), way) != line) {
    way = tag_array::absent;  // the sibling's transaction had written it
  }
  std::uint32_t charged = costs.l1;
  if (way != tag_array::absent) {
    l1.touch(l1_set(line), way);
    if (wanted.write && (record.holders & ~me.core_bit) != 0) {
      ++me.meter.upgrades;
      charged = queue(me, record, the.rules.beyond.upgrade) + costs.upgrade;
    }
  } else {
    charged = fetch(me, wanted, record, costs);
    const std::uint32_t leaves = l1.insert(l1_set(line), line);
    if (leaves != 0) {
      leave_l1(me.core, leaves);
      me.disturbed = true;
      if (me.sibling != nullptr) me.sibling->disturbed = true;
      put_into_l2(me.core, leaves);
    }
  }
  if (wanted.write) {
    if ((record.holders & ~me.core_bit) != 0) take_from_other_cores(me, line, record);
    record.owner = static_cast<std::uint8_t>(me.core + 1);
    record.dirty = 1;
    if (me.sibling != nullptr) me.sibling->disturbed = true;
  }
  record.holders |= me.core_bit;
  clock_of(me) += charged;
  if (charged > costs.l1) {
    me.meter.stall_cycles += charged - costs.l1;
    me.slowed_until += charged - costs.l1;  // a core that waits is not slowed by its sibling
  }
  if (me.tx.depth != 0) track(me, wanted, record);
  remember_tag(me, wanted, the.lines.address_of(line) / line_bytes, record);
  finish_losses(wanted.code);
}

}  // namespace unlatch::lab
