// SPDX-License-Identifier: Apache-2.0
//
// The seeded generator behind everything in the simulation that is random: interrupts, and read
// lines lost as they leave the first-level cache. Source: Blackman and Vigna, xoshiro256** and
// splitmix64.
#pragma once

#include <bit>
#include <cstdint>

namespace unlatch::lab {

class random {
 public:
  random() noexcept : random(0) {}
  explicit random(std::uint64_t seed) noexcept {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
      word = mixed ^ (mixed >> 31);
    }
  }

  std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// From 0 to `bound` - 1. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  /// Exponentially distributed with this mean, at least 1: the time to the next of events that come
  /// independently of each other. By integer arithmetic only, so that every host gives the same.
  std::uint64_t exponential(std::uint64_t mean) noexcept {
    // -ln(u) for u = next() / 2^64: the leading zeros are whole multiples of ln 2, the rest a
    // fraction f in [1, 2), where log2(f) is found bit by bit by squaring.
    const std::uint64_t value = next() | 1;
    const int zeros = std::countl_zero(value);
    std::uint64_t fraction = (value << zeros) >> 32;  // in [2^31, 2^32)
    std::uint64_t logarithm = 0;                      // log2(f) with 20 bits after the point
    for (int bit = 19; bit >= 0; --bit) {
      fraction = (fraction * fraction) >> 31;
      if (fraction >= std::uint64_t{1} << 32) {
        fraction >>= 1;
        logarithm |= std::uint64_t{1} << bit;
      }
    }
    const std::uint64_t halvings = (static_cast<std::uint64_t>(zeros + 1) << 20) - logarithm;
    constexpr std::uint64_t ln2 = 726817;  // ln 2 with 20 bits after the point
    const auto product = static_cast<unsigned __int128>(halvings) * ln2 * mean;
    return static_cast<std::uint64_t>(product >> 40) + 1;
  }

 private:
  std::uint64_t state_[4];
};

}  // namespace unlatch::lab
