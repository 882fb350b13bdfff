// SPDX-License-Identifier: Apache-2.0
//
// The simulated program's heap: malloc and operator new, in an arena at a fixed address.
//
// Small blocks come from 64 KiB pieces of one size, one list for each CPU and size, so CPUs do not
// share lines by accident; large ones are cut from the arena's end and reused by size. The host has
// lists of its own; and what shared libraries ask for (the C library reads the host's
// configuration) comes from a part of the arena of its own, so that it moves nothing of the
// program's.
//
// Invariants: what is allocated does not depend on the host. Blocks are aligned to 16 bytes, and to
// more on demand. In a transaction an allocation is remembered, and a free only done at its commit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transaction.hpp"

namespace unlatch::lab::heap {

inline constexpr std::uintptr_t arena_address = 0x2000'0000'0000;
inline constexpr std::size_t arena_bytes = std::size_t{16} << 30;
inline constexpr std::size_t program_bytes = std::size_t{14} << 30;  // the rest is for libraries

/// `code` is the address of the instruction that asks. Null if the arena is full.
void* allocate(std::size_t bytes, std::size_t alignment, std::uintptr_t code) noexcept;
void free(void* block) noexcept;
/// How much the block holds.
std::size_t usable_bytes(const void* block) noexcept;

/// Where the program's memory that has never been handed out begins.
std::uintptr_t end() noexcept;

/// Frees what the transaction freed; forgets what it allocated.
void commit(transaction& done) noexcept;
/// Gives back what it allocated; forgets what it freed.
void roll_back(transaction& aborted) noexcept;

/// The block that holds an address, for reports.
struct block {
  std::uintptr_t begin;
  std::size_t bytes;
  std::uintptr_t code;  ///< who allocated it
};
/// False if the address is not in the heap.
bool find(std::uintptr_t address, block& found) noexcept;

}  // namespace unlatch::lab::heap
