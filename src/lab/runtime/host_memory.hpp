// SPDX-License-Identifier: Apache-2.0
//
// Memory for the simulator itself, straight from the host's kernel: the simulated heap belongs to
// the simulated program, and the runtime links no library's containers (a template instance that
// the simulated program also uses would replace the instrumented one).
//
// Invariants: what reserve() and host_array return is zero until it is written and costs the host
// nothing until then. Nothing here is copied, and nothing throws: a host without memory ends the
// program with a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace unlatch::lab {

/// Ends the program: `what` says what is wrong and what to do. For faults of the host or of the use
/// of the lab, never of the simulated program's logic.
[[noreturn]] void fail(const char* what) noexcept;

/// Address space of `bytes`, at `at` exactly if that is not 0.
void* reserve(std::size_t bytes, std::uintptr_t at = 0) noexcept;

/// Makes reserved memory zero again and gives it back to the host.
void forget(void* at, std::size_t bytes) noexcept;

/// Gives reserved memory back for good.
void give_back(void* at, std::size_t bytes) noexcept;

/// Reserved memory of another size, with its contents, perhaps elsewhere.
void* enlarge(void* at, std::size_t bytes, std::size_t to) noexcept;

/// Makes memory stop whoever touches it.
void forbid(void* at, std::size_t bytes) noexcept;

/// A growing array of plain values. Elements move when it grows.
template <class T>
class host_array {
 public:
  host_array() = default;
  host_array(const host_array&) = delete;
  host_array& operator=(const host_array&) = delete;

  void push(const T& value) noexcept {
    if (size_ == capacity_) [[unlikely]]
      grow(capacity_ == 0 ? 4096 / sizeof(T) + 1 : capacity_ * 2);
    data_[size_++] = value;
  }
  /// Elements that come into being are zero.
  void resize(std::size_t size) noexcept {
    if (size > capacity_) grow(size);
    for (std::size_t i = size_; i < size; ++i) data_[i] = T{};
    size_ = size;
  }
  void pop() noexcept { --size_; }
  void clear() noexcept { size_ = 0; }
  /// Gives its memory back to the host.
  void release() noexcept {
    if (capacity_ != 0) give_back(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  T& operator[](std::size_t index) noexcept { return data_[index]; }
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }
  T& back() noexcept { return data_[size_ - 1]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  [[gnu::noinline]] void grow(std::size_t capacity) noexcept {
    data_ = static_cast<T*>(capacity_ == 0
                                ? reserve(capacity * sizeof(T))
                                : enlarge(data_, capacity_ * sizeof(T), capacity * sizeof(T)));
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace unlatch::lab
