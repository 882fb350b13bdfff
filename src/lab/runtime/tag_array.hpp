// SPDX-License-Identifier: Apache-2.0
//
// The tags of a set-associative cache with pseudo-LRU replacement.
//
// A tag is a line's number in the directory (directory.hpp); 0 is an empty way. Ways are in groups
// of four: a tree of three bits in each group, true LRU among the groups; for eight ways that is
// the usual tree.
//
// Invariants:
//   1. Touching a set's most recent line again changes nothing. The inlined fast path relies on it:
//      it hits most recent lines without telling this class.
//   2. As many misses in a row as there are ways replace every way once, whatever was there. A
//      transaction that only writes new lines can thus use all the ways of a set.
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
    groups_ = (ways + 3) / 4;
    stride_ = groups_ * 4 + 2 <= 16 ? 16 : (groups_ * 4 + 2 + 15) & ~15u;
    initial_order_ = static_cast<std::uint32_t>(0x76543210u & ((1ull << (4 * groups_)) - 1));
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
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(line));
    for (std::uint32_t way = 0; way < ways_; way += 4) {
      const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(tags + way));
      const int equal = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted)));
      if (equal != 0) return way + static_cast<std::uint32_t>(std::countr_zero(unsigned(equal)));
    }
    return absent;
  }

  /// Makes the way the most recent of its set.
  void touch(std::uint32_t set, std::uint32_t way) noexcept {
    std::uint32_t* const state = row(set) + groups_ * 4;
    const std::uint32_t group = way / 4;
    std::uint32_t order = state[0];
    if (order == 0) order = initial_order_;
    if ((order & 15) != group) {
      std::uint32_t shift = 4;
      while ((order >> shift & 15) != group) shift += 4;
      const std::uint32_t before = order & ((1u << shift) - 1);
      const auto after = static_cast<std::uint32_t>(std::uint64_t{order} >> (shift + 4) << (shift + 4));
      order = after | before << 4 | group;
    }
    state[0] = order;
    // Bit 0 points at the older half, bits 1 and 2 at the older way of each half.
    static constexpr std::uint32_t cleared[4] = {0, 2, 1, 5};
    static constexpr std::uint32_t set_bits[4] = {3, 1, 4, 0};
    state[1] = (state[1] & ~(cleared[way & 3] << (4 * group))) | set_bits[way & 3] << (4 * group);
  }

  bool touch_if_present(std::uint32_t set, std::uint32_t line) noexcept {
    const std::uint32_t way = find(set, line);
    if (way == absent) return false;
    touch(set, way);
    return true;
  }

  /// Puts a line that is not there into the set; returns the line that leaves for it, or 0.
  std::uint32_t insert(std::uint32_t set, std::uint32_t line) noexcept {
    std::uint32_t* const tags = row(set);
    std::uint32_t way = find(set, 0);
    if (way >= ways_) way = oldest(set);
    const std::uint32_t leaves = tags[way];
    tags[way] = line;
    touch(set, way);
    return leaves;
  }

  void remove(std::uint32_t set, std::uint32_t line) noexcept {
    const std::uint32_t way = find(set, line);
    if (way != absent) row(set)[way] = 0;
  }

  /// The line in a way of a set, 0 if it is empty: for reports.
  [[nodiscard]] std::uint32_t at(std::uint32_t set, std::uint32_t way) const noexcept {
    return row(set)[way];
  }

 private:
  [[nodiscard]] std::size_t bytes() const noexcept {
    return std::size_t{sets_} * stride_ * sizeof(std::uint32_t);
  }
  [[nodiscard]] std::uint32_t* row(std::uint32_t set) const noexcept {
    return words_ + std::size_t{set} * stride_;
  }
  std::uint32_t oldest(std::uint32_t set) noexcept {
    const std::uint32_t* const state = row(set) + groups_ * 4;
    for (;;) {
      const std::uint32_t group = state[0] >> (4 * (groups_ - 1)) & 15;
      const std::uint32_t tree = state[1] >> (4 * group);
      const std::uint32_t half = tree & 1;
      const std::uint32_t way = group * 4 + half * 2 + (tree >> (1 + half) & 1);
      if (way < ways_) return way;
      touch(set, way);  // the last group may be incomplete: pass over what is not there
    }
  }

  std::uint32_t* words_ = nullptr;  // a set: its tags, the order of its groups, their trees
  std::uint32_t sets_ = 0;
  std::uint32_t ways_ = 0;
  std::uint32_t groups_ = 0;
  std::uint32_t stride_ = 0;
  std::uint32_t initial_order_ = 0;
};

}  // namespace unlatch::lab
