// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing shared fields while a software speculation may look at them.
//
// The protocol of speculating readers and one writer (Boehm, "Can Seqlocks Get Along With
// Programming Language Memory Models?", MSPC 2012):
//
//   writer: sequence := odd;  release fence;  field := v;  sequence := even (release)
//   reader: v := field (acquire);  sequence unchanged?  (relaxed)
//
// If the reader got what the writer wrote, the fence makes the odd sequence visible to it, and the
// check fails. On x86-64 all of these are plain moves. Values of other sizes than 1, 2, 4
// and 8 bytes move piecewise; the one check after the last piece covers them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "unlatch/platform.hpp"

namespace unlatch::detail {

/// The unsigned integer of N bytes.
template <std::size_t N>
using word_of = std::conditional_t<
    N == 1, std::uint8_t,
    std::conditional_t<N == 2, std::uint16_t,
                       std::conditional_t<N == 4, std::uint32_t, std::uint64_t>>>;

/// Bytes that T moves at once.
template <class T>
inline constexpr std::size_t piece = (sizeof(T) == alignof(T) && sizeof(T) <= 8)
                                         ? sizeof(T)
                                         : (alignof(T) < 8 ? alignof(T) : 8);

/// Relaxed, so that the compiler may keep other fields in registers across it: the fence behind the
/// odd sequence (store_store_fence) orders all of a writer's stores after that. The thread
/// sanitizer does not know fences.
inline constexpr int shared_store_order =
    UNLATCH_THREAD_SANITIZER ? __ATOMIC_RELEASE : __ATOMIC_RELAXED;

/// May be aliased with anything, like char.
template <std::size_t N>
struct aliasing_word {
  using type [[gnu::may_alias]] = word_of<N>;
};

template <class T>
[[gnu::always_inline]] inline T load_shared(const T& x) noexcept {
  static_assert(
      std::is_trivially_copyable_v<T>,
      "tx.read() copies bytes that may be changing: the field must be trivially copyable");
  constexpr std::size_t n = piece<T>;
  std::remove_const_t<T> value;
  if constexpr (n == sizeof(T)) {
    __atomic_load(const_cast<std::remove_const_t<T>*>(std::addressof(x)), std::addressof(value),
                  __ATOMIC_ACQUIRE);
    return value;
  }
  using word = typename aliasing_word<n>::type;
  const auto* from = reinterpret_cast<const word*>(std::addressof(x));
  word pieces[sizeof(T) / n];
  for (std::size_t i = 0; i < sizeof(T) / n; ++i)
    pieces[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
  std::memcpy(static_cast<void*>(std::addressof(value)), pieces, sizeof(T));
  return value;
}

template <class T>
[[gnu::always_inline]] inline void store_shared(T& x, const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>,
                "tx.write() is seen piecewise by speculating readers: the field must be trivially "
                "copyable");
  constexpr std::size_t n = piece<T>;
  if constexpr (n == sizeof(T)) {
    T copy = value;
    __atomic_store(std::addressof(x), std::addressof(copy), shared_store_order);
    return;
  }
  using word = typename aliasing_word<n>::type;
  auto* to = reinterpret_cast<word*>(std::addressof(x));
  word pieces[sizeof(T) / n];
  std::memcpy(pieces, static_cast<const void*>(std::addressof(value)), sizeof(T));
  for (std::size_t i = 0; i < sizeof(T) / n; ++i)
    __atomic_store_n(to + i, pieces[i], shared_store_order);
}

/// Orders the odd sequence before later stores of any kind.
inline void store_store_fence() noexcept {
#if !UNLATCH_THREAD_SANITIZER
  std::atomic_thread_fence(std::memory_order_release);
#endif
}

}  // namespace unlatch::detail
