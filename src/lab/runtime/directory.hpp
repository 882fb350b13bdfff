// SPDX-License-Identifier: Apache-2.0
//
// The directory: for every cache line that the program has touched, who holds it and whose
// transactions have read or written it; and which pages have been touched at all.
//
// Lines are numbered in the order in which their 16 MiB of address space are first seen, so a line
// is 32 bits wherever caches and transactions keep it; number 0 is no line. The low bits of a
// number are those of the address, so it selects a cache's set.
//
// Invariants:
//   1. `holders` has the bit of every core that has the line in its L1 or L2. It may have the bit
//   of
//      a core that lost it, never the other way round.
//   2. `owner` may write without asking anybody: no other core holds the line then.
//   3. `writer` is the CPU whose running transaction has written the line, if any; then the line is
//      in that CPU's L1, and nobody is in `readers` but that CPU.
//   4. `readers` are the CPUs whose running transactions have read it, in caches or not.
#pragma once

#include <cstdint>

#include "host_memory.hpp"

namespace unlatch::lab {

struct line_record {
  std::uint64_t holders;     ///< a bit a core
  std::uint64_t readers[2];  ///< a bit a core, for its first and its second hardware thread
  std::uint32_t busy_until;  ///< low 32 bits of the time at which its last transfer ends
  std::uint8_t owner;        ///< core + 1, or 0
  std::uint8_t writer;       ///< CPU + 1, or 0
  std::uint8_t dirty;        ///< the owner has written it
};
static_assert(sizeof(line_record) == 32);

class directory {
 public:
  static constexpr std::uint32_t chunk_bits = 24;  // of address space
  static constexpr std::uint32_t line_bits = 6;    // 64 bytes
  static constexpr std::uint32_t index_bits = chunk_bits - line_bits;
  static constexpr std::uint32_t most_chunks = 2048;

  /// Forgets everything. Memory below `fresh_from` .. `fresh_to` counts as touched before.
  void reset(std::uintptr_t fresh_from, std::uintptr_t fresh_to, std::uint32_t page_bytes) noexcept;

  [[gnu::always_inline]] std::uint32_t line_of(std::uintptr_t address) noexcept {
    const std::uint32_t chunk = chunks_[address >> chunk_bits];
    if (chunk == 0) [[unlikely]]
      return new_chunk(address);
    return chunk << index_bits | (address >> line_bits & ((1u << index_bits) - 1));
  }
  [[nodiscard]] std::uintptr_t address_of(std::uint32_t line) const noexcept {
    const std::uintptr_t low = line & ((1u << index_bits) - 1);
    return std::uintptr_t{origins_[line >> index_bits]} << chunk_bits | low << line_bits;
  }
  line_record& operator[](std::uint32_t line) noexcept { return records_[line]; }

  /// Whether the line's page has been touched before; notes that it is now, unless `only_ask`.
  bool page_touched(std::uint32_t line, bool only_ask) noexcept;
  /// The pages of this memory are new: their next touch is a page fault (mmap, madvise).
  void make_fresh(std::uintptr_t from, std::size_t bytes) noexcept;

 private:
  std::uint32_t new_chunk(std::uintptr_t address) noexcept;
  [[nodiscard]] std::uint32_t page_of(std::uint32_t line) const noexcept {
    return line >> page_shift_;
  }

  std::uint16_t* chunks_ = nullptr;     // by address >> chunk_bits
  std::uint32_t* origins_ = nullptr;    // by chunk number: address >> chunk_bits
  line_record* records_ = nullptr;      // by line number
  std::uint64_t* untouched_ = nullptr;  // a bit a page, by line number >> page_shift_
  std::uint32_t used_ = 0;
  std::uint32_t page_shift_ = 6;
  std::uintptr_t fresh_from_ = 0;
  std::uintptr_t fresh_to_ = 0;
};

}  // namespace unlatch::lab
