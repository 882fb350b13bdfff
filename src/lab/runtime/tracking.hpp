// SPDX-License-Identifier: Apache-2.0
//
// What the running CPU keeps of a line it has just accessed: its transaction's sets, and the tables
// by which the inlined fast path serves the next access.
#pragma once

#include "hierarchy.hpp"
#include "os/os.hpp"

namespace unlatch::lab {

// Joins the line to the running transaction's read or write set.
[[gnu::always_inline]] inline void track(cpu& me, const request& wanted,
                                         line_record& record) noexcept {
  const bool has_read = (record.readers[me.hardware_thread] & me.core_bit) != 0;
  const bool has_written = record.writer == me.number + 1;
  if (!has_read && !has_written) me.tx.lines.push(wanted.line);
  if (wanted.write) {
    record.writer = static_cast<std::uint8_t>(me.number + 1);
  } else if (!has_written) {
    record.readers[me.hardware_thread] |= me.core_bit;
  }
  if (the.blame) {
    const std::uintptr_t code = os::program_code(wanted.code);
    me.tx.accesses.note(wanted.line, wanted.bytes, code, wanted.write);
  }
}

// Lets the fast path serve the line while nothing changes. With blame, a transaction's accesses all
// come here, so that their bytes are known.
// `tag` is the line's address by line_bytes.
[[gnu::always_inline]] inline void remember_tag(cpu& me, const request& wanted, std::uint64_t tag,
                                                const line_record& record) noexcept {
  const std::uint32_t index = wanted.line & (tag_entries - 1);
  const bool in_transaction = me.tx.depth != 0;
  const bool hidden = the.strategy != nullptr || (in_transaction && the.blame) ||
                      is_contended(record, clock_of(me));
  const bool own = record.owner == me.core + 1 && other_readers(me, record).empty();
  const bool written = record.writer == me.number + 1;
  if (!hidden && me.tags_set <= most_tags_set) {
    if (me.tags_set < most_tags_set) me.tags_set_at[me.tags_set] = static_cast<std::uint8_t>(index);
    ++me.tags_set;
  }
  me.read_tags[index] = hidden ? 0 : tag;
  // Writes to others' stacks are all to be seen (access.hpp); a stack's own tracked lines may be
  // hit.
  const std::uintptr_t beyond = (tag << directory::line_bits) - stacks_address;
  const bool foreign =
      beyond < most_threads * stack_bytes && beyond / stack_bytes != me.current->number;
  me.write_tags[index] = !hidden && !foreign && own && (!in_transaction || written) ? tag : 0;
  if (me.sibling != nullptr) me.sibling->read_tags[index] = me.sibling->write_tags[index] = 0;
}

}  // namespace unlatch::lab
