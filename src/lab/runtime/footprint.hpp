// SPDX-License-Identifier: Apache-2.0
//
// Which instruction of a transaction touched which bytes of which line: kept only when conflicts
// are to be blamed on source lines.
//
// Invariants: per line, a list of accesses, one for each (instruction, read or write), in the order
// in which they first came. begin() forgets all in constant time.
#pragma once

#include <cstdint>

#include "host_memory.hpp"

namespace unlatch::lab {

/// Bits of the bytes of a line that [address, address + bytes) covers, of its first line only.
constexpr std::uint64_t byte_mask(std::uintptr_t address, std::size_t bytes) noexcept {
  const unsigned first = address & 63;
  const std::uint64_t ones = bytes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1;
  return ones << first;
}

class footprint {
 public:
  struct access {
    std::uint64_t bytes;  ///< a bit a byte of the line
    std::uint32_t code;   ///< the address of the instruction; code lies below 4 GiB (no PIE)
    std::uint32_t next : 31;
    std::uint32_t write : 1;
  };

  /// Bytes of a line; none: no access.
  struct place {
    std::uint32_t line;
    std::uint64_t bytes;
  };

  void begin() noexcept {
    ++generation_;
    last_ = {};
    lines_ = 0;
    accesses_.clear();
    accesses_.push({});  // 0 ends a list
  }

  void note(std::uint32_t line, std::uint64_t bytes, std::uintptr_t code, bool write) noexcept {
    last_ = {line, bytes};
    if ((lines_ + 1) * 2 > slots_.size()) [[unlikely]]
      grow();
    slot& where = find(line);
    if (where.generation != generation_) {
      where = {line, generation_, 0, 0};
      ++lines_;
    }
    for (std::uint32_t at = where.first; at != 0; at = accesses_[at].next) {
      access& old = accesses_[at];
      if (old.code == static_cast<std::uint32_t>(code) && old.write == write) {
        old.bytes |= bytes;
        return;
      }
    }
    const auto added = static_cast<std::uint32_t>(accesses_.size());
    accesses_.push({bytes, static_cast<std::uint32_t>(code), 0, write});
    if (where.first == 0) {
      where.first = added;
    } else {
      accesses_[where.last].next = added;
    }
    where.last = added;
  }

  /// What was accessed last.
  const place& last() const noexcept { return last_; }
  /// The first access to a line, or null; next() goes on.
  const access* first(std::uint32_t line) noexcept {
    if (slots_.empty()) return nullptr;
    const slot& where = find(line);
    return where.generation == generation_ ? &accesses_[where.first] : nullptr;
  }
  const access* next(const access* one) noexcept {
    return one->next == 0 ? nullptr : &accesses_[one->next];
  }

 private:
  struct slot {
    std::uint32_t line;
    std::uint32_t generation;
    std::uint32_t first;
    std::uint32_t last;
  };

  slot& find(std::uint32_t line) noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (line * 0x9e3779b1u >> 7) & mask;
    while (slots_[at].generation == generation_ && slots_[at].line != line) at = (at + 1) & mask;
    return slots_[at];
  }
  [[gnu::noinline]] void grow() noexcept {
    host_array<slot> old;
    for (const slot& one : slots_) {
      if (one.generation == generation_) old.push(one);
    }
    const std::size_t size = slots_.empty() ? 256 : slots_.size() * 2;
    slots_.clear();
    slots_.resize(size);
    for (const slot& one : old) find(one.line) = one;
    old.release();
  }

  host_array<slot> slots_;
  host_array<access> accesses_;
  place last_ = {};
  std::size_t lines_ = 0;
  std::uint32_t generation_ = 1;
};

}  // namespace unlatch::lab
