// SPDX-License-Identifier: Apache-2.0
//
// What one access to one line does: to the clock, to the caches, and to the transactions that have
// the line.
//
// Invariants: the caller has let the CPUs that are behind run first, unless nobody can notice the
// access (is_private). Conflicts are found by the coherence request: a read takes the line from its
// transactional writer, a write from its writer and its readers, and these abort; the requester
// goes on. A transaction's own written line that leaves the L1 aborts it, after the access's
// effects on the caches and before its effect on memory.
#pragma once

#include <cstdint>

#include "machine.hpp"

namespace unlatch::lab {

/// Who asks for a line and for which bytes: one side of a conflict.
struct request {
  std::uint32_t line;
  bool write;
  std::uint64_t bytes;  ///< a bit a byte
  std::uintptr_t code;
};

/// The other CPUs whose transactions have read the line: one word for each hardware thread.
struct reader_set {
  std::uint64_t cores[2];
  [[nodiscard]] bool empty() const noexcept { return (cores[0] | cores[1]) == 0; }
};
inline reader_set other_readers(const cpu& me, const line_record& record) noexcept {
  reader_set others{{record.readers[0], record.readers[1]}};
  others.cores[me.hardware_thread] &= ~me.core_bit;
  return others;
}

/// Times of transfers are kept in 32 bits; one that lies further ahead than this is an old one.
inline constexpr std::uint32_t longest_queue = 1u << 20;

/// Whether cores have passed the line on a moment ago, and are likely to do so again: then even
/// hits must not run ahead, or a core would keep it longer than it may. (An old transfer may look
/// like a recent one for a quarter of a thousandth of the time, which costs time and changes
/// nothing else.)
inline bool is_contended(const line_record& record, cycles now) noexcept {
  constexpr std::uint32_t a_moment = 4096;
  const std::uint32_t since = static_cast<std::uint32_t>(now) - record.busy_until;
  return since + longest_queue < a_moment + longest_queue;
}

/// Whether no other CPU has anything to do with the access: no other core has written the line or
/// holds it, but for reads of a line that this core holds as well; no other CPU's transaction has
/// written it or, for a write, read it. What other CPUs do to the line within the run-ahead may
/// then come too late for it, as with a line in the L1.
inline bool is_private(const cpu& me, const line_record& record, bool write) noexcept {
  if (is_contended(record, clock_of(me))) return false;
  if (record.writer != 0 && record.writer != me.number + 1) return false;
  if (record.owner == me.core + 1) return !write || other_readers(me, record).empty();
  if (record.owner != 0) return false;
  if ((record.holders & ~me.core_bit) != 0) return !write && (record.holders & me.core_bit) != 0;
  return !write || other_readers(me, record).empty();
}

inline std::uint32_t l1_set(std::uint32_t line) noexcept {
  return line & (the.cores[0].l1.sets() - 1);
}

/// Makes the access. `way` as above. May abort the running transaction, and then does not return.
void touch(cpu& me, const request& wanted, std::uint32_t way, const access_costs& costs) noexcept;

/// Drops a line from a core's caches, as when its owner's transaction has aborted.
void drop_from_core(std::uint32_t core, std::uint32_t line) noexcept;

/// Opens the caches of the machine's model and computes what accesses cost.
void open_caches() noexcept;

}  // namespace unlatch::lab
