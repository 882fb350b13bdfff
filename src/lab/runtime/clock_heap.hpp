// SPDX-License-Identifier: Apache-2.0
//
// The CPUs that have a thread to run, ordered by their clocks; equal clocks by number.
//
// Invariants: a binary heap with the smallest on top. A key is clock << 7 | number, so one
// comparison orders both; the clock of the CPU that runs is out of date here until it is moved.
#pragma once

#include <cstdint>

namespace unlatch::lab {

class clock_heap {
 public:
  static constexpr std::uint32_t number_bits = 7;
  static constexpr std::uint32_t most = 1u << number_bits;

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t number_at(std::uint32_t index) const noexcept {
    return static_cast<std::uint32_t>(keys_[index] & (most - 1));
  }
  [[nodiscard]] std::uint32_t top() const noexcept { return number_at(0); }
  [[nodiscard]] std::uint64_t top_clock() const noexcept { return keys_[0] >> number_bits; }
  /// The smallest clock but the top's; the largest possible if there is none.
  [[nodiscard]] std::uint64_t second_clock() const noexcept {
    std::uint64_t key = ~std::uint64_t{0};
    if (size_ > 1) key = keys_[1];
    if (size_ > 2 && keys_[2] < key) key = keys_[2];
    return key >> number_bits;
  }

  void clear() noexcept { size_ = 0; }
  void insert(std::uint32_t number, std::uint64_t clock) noexcept {
    keys_[size_] = key(number, clock);
    up(size_++);
  }
  void remove(std::uint32_t number) noexcept {
    const std::uint32_t index = find(number);
    const std::uint64_t last = keys_[--size_];
    if (index == size_) return;
    keys_[index] = last;
    down(index);
    up(index);
  }
  /// The CPU's clock is `clock` now.
  void move(std::uint32_t number, std::uint64_t clock) noexcept {
    const std::uint32_t index = find(number);
    keys_[index] = key(number, clock);
    down(index);
    if (index != 0) up(index);
  }
  [[nodiscard]] bool contains(std::uint32_t number) const noexcept { return find(number) < size_; }

 private:
  static std::uint64_t key(std::uint32_t number, std::uint64_t clock) noexcept {
    return clock << number_bits | number;
  }
  [[nodiscard]] std::uint32_t find(std::uint32_t number) const noexcept {
    std::uint32_t index = 0;
    while (index < size_ && number_at(index) != number) ++index;
    return index;
  }
  void up(std::uint32_t index) noexcept {
    const std::uint64_t moving = keys_[index];
    for (; index > 0 && moving < keys_[(index - 1) / 2]; index = (index - 1) / 2) {
      keys_[index] = keys_[(index - 1) / 2];
    }
    keys_[index] = moving;
  }
  void down(std::uint32_t index) noexcept {
    const std::uint64_t moving = keys_[index];
    for (std::uint32_t child; (child = index * 2 + 1) < size_; index = child) {
      if (child + 1 < size_ && keys_[child + 1] < keys_[child]) ++child;
      if (moving <= keys_[child]) break;
      keys_[index] = keys_[child];
    }
    keys_[index] = moving;
  }

  std::uint64_t keys_[most];
  std::uint32_t size_ = 0;
};

}  // namespace unlatch::lab
