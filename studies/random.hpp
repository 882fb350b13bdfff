// SPDX-License-Identifier: Apache-2.0
//
// A small generator for workloads, the same on every machine for the same seed.
#pragma once

#include <cstdint>

namespace unlatch::studies {

/// SplitMix64 (Steele, Lea, Flood 2014). A few cycles a number; each thread has its own.
class random_numbers {
 public:
  random_numbers(std::uint64_t seed, unsigned thread)
      : state_(seed * 0x9e3779b97f4a7c15 + (thread + 1ULL) * 0xd1b54a32d192ed03) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  /// A number below `bound` (at most 2^32), by multiplication of the upper half.
  std::uint64_t below(std::uint64_t bound) { return (next() >> 32) * bound >> 32; }

 private:
  std::uint64_t state_;
};

}  // namespace unlatch::studies
