// SPDX-License-Identifier: Apache-2.0
//
// What is known about aborts, as plain records with addresses: source lines and names are found
// when they are reported.
#pragma once

#include <cstdint>

namespace unlatch::lab {

/// What lies at an address of the simulated program.
struct object_record {
  std::uintptr_t begin;  ///< of the block of the heap, or 0: a variable, a stack, thread-local
  std::uint64_t bytes;   ///< of the block
  std::uintptr_t code;   ///< who allocated it
  std::uint32_t thread;  ///< whose stack it is; ~0 otherwise
};

/// One side of a conflict.
struct conflict_side {
  std::uintptr_t code;  ///< the return address of the access's hook: one past the instruction
  bool write;
  std::uint64_t bytes;  ///< a bit a byte of the line, over all occurrences
};

/// All conflicts between the same two instructions.
struct conflict_record {
  conflict_side owner;      ///< the transaction that had the line, and aborted
  conflict_side requester;  ///< what took it
  std::uintptr_t begun_at;  ///< where the owner's transaction began
  std::uintptr_t line;      ///< the address of a line where it happened
  object_record object;     ///< what is there
  std::uint64_t count;
  std::uint64_t true_sharing;    ///< how often they wanted a byte in common
  std::uint64_t in_transaction;  ///< how often the requester was in a transaction
  std::uint64_t wasted_cycles;   ///< from the owner's begin to the conflict
};

/// All capacity aborts at the same instruction.
struct capacity_record {
  static constexpr std::uint32_t most_lines = 33;
  std::uintptr_t code;  ///< what asked for one line too many
  std::uintptr_t begun_at;
  bool reads;         ///< the second structure lost a read line
  std::uint32_t set;  ///< of the L1, at the last occurrence
  std::uint32_t lines_count;
  std::uint32_t tracked_lines;            ///< lines of the transaction, in all sets
  std::uintptr_t lines[most_lines];       ///< the transaction's lines in that set
  std::uintptr_t lines_code[most_lines];  ///< who touched each first
  std::uint64_t count;
  std::uint64_t wasted_cycles;
};

/// Return addresses, the innermost call's first; 0 after the last that is known.
struct call_chain {
  static constexpr std::uint32_t most = 6;
  std::uintptr_t code[most];

  friend bool operator==(const call_chain&, const call_chain&) = default;
};

/// All other aborts for the same reason at the same instruction, reached by the same calls.
struct abort_record {
  std::uint32_t reason;  ///< abort_reason
  std::uint32_t status;  ///< the first one's, as the hardware tells it
  std::uintptr_t code;
  call_chain callers;  ///< of the function that `code` is in
  std::uintptr_t begun_at;
  std::uintptr_t last_access;  ///< what the transaction accessed last; 0: nothing
  object_record object;        ///< what is there
  std::uint64_t count;
  std::uint64_t wasted_cycles;
};

/// Arrays that stay valid until the next run.
struct blame_lists {
  const conflict_record* conflicts = nullptr;
  std::uint64_t conflicts_count = 0;
  const capacity_record* capacities = nullptr;
  std::uint64_t capacities_count = 0;
  const abort_record* aborts = nullptr;
  std::uint64_t aborts_count = 0;
};

}  // namespace unlatch::lab
