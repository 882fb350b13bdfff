// SPDX-License-Identifier: Apache-2.0
//
// A CPU's hardware transaction: what it has written over, which lines it has read and written, what
// it allocated, and how control comes back to where it began.
//
// Writes go to memory at once; their old values are in the undo log. The registers and the live
// part of the stack are copied when the transaction begins, so it may begin in a function that has
// long returned when it aborts.
//
// Invariants (while depth > 0):
//   1. A line is in `lines` once if this CPU is its writer or among its readers, else not at all.
//   2. Undoing `undo` from its end, then copying the stack back but for `foreign_writes`, gives the
//      memory as it was at begin, with what others have written since.
//   3. No other simulated thread sees a byte that the transaction wrote: any access to such a line
//      by another CPU aborts it first (requester wins, whether in a transaction or not).
//   4. What it allocated is given back at an abort; what it freed is freed at the commit.
#pragma once

#include <cstdint>

#include "footprint.hpp"
#include "host_memory.hpp"
#include "scheduler.hpp"

namespace unlatch::lab {

/// The bits of an abort's status, as in the Intel manual (volume 1, table 16-1).
namespace abort_status {
inline constexpr std::uint32_t started = ~0u;
inline constexpr std::uint32_t explicit_abort = 1u << 0;
inline constexpr std::uint32_t retry = 1u << 1;
inline constexpr std::uint32_t conflict = 1u << 2;
inline constexpr std::uint32_t capacity = 1u << 3;
inline constexpr std::uint32_t nested = 1u << 5;
}  // namespace abort_status

/// Why a transaction aborted, in more detail than the status says.
enum class abort_reason : std::uint8_t {
  conflict,
  write_capacity,
  read_capacity,
  explicit_code,
  nesting,
  instruction,
  system_call,
  page_fault,
  interrupt,
  injected,
  count
};

struct undo_entry {
  std::uintptr_t address;  // a multiple of 8
  std::uint64_t value;
};

/// Bytes of the thread's own stack that somebody else has written meanwhile.
struct foreign_write {
  std::uintptr_t address;
  std::size_t bytes;
};

struct transaction {
  std::uint32_t depth = 0;
  bool elided = false;              ///< begun by XACQUIRE
  std::uintptr_t elided_lock = 0;   ///< whose XRELEASE ends it
  std::uint32_t read_overflow = 0;  ///< read lines that have left the L1
  std::uintptr_t begin_stack = 0;   ///< the stack pointer at begin, with the registers on the stack
  std::uintptr_t begin_code = 0;    ///< where begin was called
  cycles begin_clock = 0;
  std::uint64_t exceptions[2] = {};  ///< __cxa_eh_globals at begin
  std::uint8_t* stack_copy = nullptr;
  std::size_t stack_bytes = 0;
  host_array<foreign_write> foreign_writes;
  host_array<undo_entry> undo;
  host_array<std::uint32_t> lines;
  host_array<void*> allocated;
  host_array<void*> freed;
  footprint accesses;  ///< with blame only
};

/// Logs the old bytes of a write of the running CPU's transaction.
inline void log_write(transaction& running, std::uintptr_t address, std::size_t bytes) noexcept {
  for (std::uintptr_t at = address & ~std::uintptr_t{7}; at < address + bytes; at += 8) {
    running.undo.push({at, *reinterpret_cast<const std::uint64_t*>(at)});
  }
}

}  // namespace unlatch::lab
