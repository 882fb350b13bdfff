// SPDX-License-Identifier: Apache-2.0
#include "directory.hpp"

#include <bit>

namespace unlatch::lab {

namespace {
constexpr std::size_t address_chunks = std::size_t{1} << (47 - directory::chunk_bits);
constexpr std::size_t most_lines = std::size_t{directory::most_chunks} << directory::index_bits;
// Bits for the smallest page a model may have, 4 KiB.
constexpr std::size_t page_map_bytes = most_lines / 64 / 8;
}  // namespace

void directory::reset(std::uintptr_t fresh_from, std::uintptr_t fresh_to,
                      std::uint32_t page_bytes) noexcept {
  if (chunks_ == nullptr) {
    chunks_ = static_cast<std::uint16_t*>(reserve(address_chunks * sizeof *chunks_));
    origins_ = static_cast<std::uint32_t*>(reserve((most_chunks + 1) * sizeof *origins_));
    records_ = static_cast<line_record*>(reserve(most_lines * sizeof *records_));
    untouched_ = static_cast<std::uint64_t*>(reserve(page_map_bytes));
  }
  const std::size_t chunk_bytes = sizeof(line_record) << index_bits;
  for (std::uint32_t chunk = 1; chunk <= used_; ++chunk) {
    chunks_[origins_[chunk]] = 0;
    forget(records_ + (std::size_t{chunk} << index_bits), chunk_bytes);
  }
  forget(untouched_, page_map_bytes);
  used_ = 0;
  page_shift_ = static_cast<std::uint32_t>(std::countr_zero(page_bytes)) - line_bits;
  fresh_from_ = fresh_from;
  fresh_to_ = fresh_to;
}

std::uint32_t directory::new_chunk(std::uintptr_t address) noexcept {
  const std::uintptr_t origin = address >> chunk_bits;
  if (origin >= address_chunks || used_ + 1 >= most_chunks) {
    fail("the simulated program touches more memory than the lab follows (32 GiB)");
  }
  const std::uint32_t chunk = ++used_;
  chunks_[origin] = static_cast<std::uint16_t>(chunk);
  origins_[chunk] = static_cast<std::uint32_t>(origin);
  const std::uintptr_t first = origin << chunk_bits;
  const std::uintptr_t last = first + (std::uintptr_t{1} << chunk_bits);
  const std::uintptr_t from = first > fresh_from_ ? first : fresh_from_;
  const std::uintptr_t to = last < fresh_to_ ? last : fresh_to_;
  if (from < to) make_fresh(from, to - from);
  return line_of(address);
}

bool directory::page_touched(std::uint32_t line, bool only_ask) noexcept {
  const std::uint32_t page = page_of(line);
  const std::uint64_t bit = std::uint64_t{1} << (page & 63);
  if ((untouched_[page / 64] & bit) == 0) return true;
  if (!only_ask) untouched_[page / 64] &= ~bit;
  return false;
}

void directory::make_fresh(std::uintptr_t from, std::size_t bytes) noexcept {
  const std::uintptr_t page = std::uintptr_t{1} << (page_shift_ + line_bits);
  for (std::uintptr_t at = (from + page - 1) & -page; at + page <= from + bytes; at += page) {
    const std::uint32_t number = page_of(line_of(at));
    untouched_[number / 64] |= std::uint64_t{1} << (number & 63);
  }
}

}  // namespace unlatch::lab
