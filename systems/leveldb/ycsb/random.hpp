// SPDX-License-Identifier: Apache-2.0
//
// The random numbers of the YCSB client: the same on every machine for the same seed.
#pragma once

#include <cstdint>
#include <random>

namespace unlatch::ycsb {

/// Each thread has its own.
using random_engine = std::mt19937_64;

/// An engine for one thread of one phase; different threads draw unrelated sequences.
inline random_engine engine_for(std::uint64_t seed, unsigned thread) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      std::uint32_t{thread}};
  return random_engine(words);
}

/// Uniform in [0, 1), with all 53 bits that a double has there.
inline double uniform_real(random_engine& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

/// Uniform in [0, bound), for a bound of at least 1. Its bias is below bound / 2^64.
inline std::uint64_t uniform_below(random_engine& random, std::uint64_t bound) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(wide{random()} * bound >> 64);
}

}  // namespace unlatch::ycsb
