// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace unlatch::probe::engine {

/// Marsaglia's xorshift64*, seeded by splitmix64. Used by the engine's owner only.
class random_numbers {
 public:
  void seed(std::uint64_t number) noexcept {
    number += 0x9e37'79b9'7f4a'7c15u;
    number = (number ^ number >> 30) * 0xbf58'476d'1ce4'e5b9u;
    number = (number ^ number >> 27) * 0x94d0'49bb'1331'11ebu;
    state_ = (number ^ number >> 31) | 1;
  }
  std::uint32_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>(state_ * 0x2545'f491'4f6c'dd1du >> 32);
  }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace unlatch::probe::engine
