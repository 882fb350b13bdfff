// SPDX-License-Identifier: Apache-2.0
//
// The tags of a set-associative cache. The least recently used way of a set leaves first.
//
// Real first-level caches approximate that by a tree of bits. With a tree, how many lines a
// transaction can write would depend on what its sets held before; measured capacities do not show
// that (512 lines of 8-way sets, 256 and 128 at strides of 2 and 4), so true LRU is nearer to them.
//
// A tag is a line's number in the directory (directory.hpp); 0 is an empty way.
//
// Invariants:
//   1. Touching a set's most recent line again changes nothing that decides what leaves. The
//   inlined
//      fast path relies on it: it hits most recent lines without telling this class.
//   2. A line that is touched stays while fewer other lines of its set than there are ways are.
#pragma once

#include <emmintrin.h>

#include <bit>
#include <cstdint>

#include "host_memory.hpp"

namespace unlatch::lab {

class tag_array {
 public:
  static constexpr std::uint32_t absent = ~0u;

  /// REQUIRES: ways <= 32.
  void open(std::uint32_t sets, std::uint32_t ways) noexcept {
    close();
    sets_ = sets;
    ways_ = ways;
    padded_ = (ways + 3) & ~3u;
    time_ = 0;
    words_ = static_cast<std::uint32_t*>(reserve(bytes()));
  }
  void close() noexcept {
    if (words_ != nullptr) give_back(words_, bytes());
    words_ = nullptr;
  }
  [[nodiscard]] std::uint32_t sets() const noexcept { return sets_; }
  [[nodiscard]] std::uint32_t ways() const noexcept { return ways_; }

  /// The way of `line` in `set`, or absent.
  [[nodiscard]] std::uint32_t find(std::uint32_t set, std::uint32_t line) const noexcept {
    const std::uint32_t* tags = row(set);
    if (ways_ == 8) return find_of_eight(tags, line);
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(line));
    for (std::uint32_t way = 0; way < ways_; way += 4) {
      const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(tags + way));
      const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted)));
      if (equal != 0) return way + static_cast<std::uint32_t>(std::countr_zero(unsigned(equal)));
    }
    return absent;
  }

  /// Makes the way the most recent of its set.
  void touch(std::uint32_t set, std::uint32_t way) noexcept { row(set)[padded_ + way] = ++time_; }

  bool touch_if_present(std::uint32_t set, std::uint32_t line) noexcept {
    const std::uint32_t way = find(set, line);
    if (way == absent) return false;
    touch(set, way);
    return true;
  }

  /// Puts a line that is not there into the set; returns the line that leaves for it, or 0.
  std::uint32_t insert(std::uint32_t set, std::uint32_t line) noexcept {
    std::uint32_t* const tags = row(set);
    const std::uint32_t way = oldest(set);
    const std::uint32_t leaves = tags[way];
    tags[way] = line;
    touch(set, way);
    return leaves;
  }

  void remove(std::uint32_t set, std::uint32_t line) noexcept {
    const std::uint32_t way = find(set, line);
    if (way != absent) row(set)[way] = row(set)[padded_ + way] = 0;
  }

  /// The line in a way of a set, 0 if it is empty: for reports.
  [[nodiscard]] std::uint32_t at(std::uint32_t set, std::uint32_t way) const noexcept {
    return row(set)[way];
  }

 private:
  static std::uint32_t find_of_eight(const std::uint32_t* tags, std::uint32_t line) noexcept {
    const auto* const fours = reinterpret_cast<const __m128i*>(tags);
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(line));
    const __m128i low = _mm_cmpeq_epi32(_mm_load_si128(fours), wanted);
    const __m128i high = _mm_cmpeq_epi32(_mm_load_si128(fours + 1), wanted);
    const auto equal = static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi32(low, high)));
    return equal == 0 ? absent : static_cast<std::uint32_t>(std::countr_zero(equal)) / 2;
  }

  [[nodiscard]] std::size_t bytes() const noexcept {
    return std::size_t{sets_} * padded_ * 2 * sizeof(std::uint32_t);
  }
  [[nodiscard]] std::uint32_t* row(std::uint32_t set) const noexcept {
    return words_ + std::size_t{set} * padded_ * 2;
  }
  [[nodiscard]] std::uint32_t oldest(std::uint32_t set) const noexcept {
    const std::uint32_t* const times = row(set) + padded_;
    std::uint32_t way = 0;
    for (std::uint32_t i = 1; i < ways_; ++i) {
      if (times[i] < times[way]) way = i;
    }
    return way;
  }

  // A set: its tags, then when each was last touched; an empty way never was.
  std::uint32_t* words_ = nullptr;
  std::uint32_t sets_ = 0;
  std::uint32_t ways_ = 0;
  std::uint32_t padded_ = 0;  // ways, up to a multiple of four
  std::uint32_t time_ = 0;
};

}  // namespace unlatch::lab
