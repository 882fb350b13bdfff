// SPDX-License-Identifier: Apache-2.0
//
// The functions that the compiler calls for what looks like copying. The C library's would use
// vector registers, which hold the program's values while the engine runs; these hide them from
// the engine's object.
#include <cstddef>
#include <cstdint>

#define UNLATCH_HIDDEN __attribute__((visibility("hidden"), used))

extern "C" {

UNLATCH_HIDDEN void* memcpy(void* to, const void* from, std::size_t bytes) {
  void* const result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
  return result;
}

UNLATCH_HIDDEN void* memset(void* to, int value, std::size_t bytes) {
  void* const result = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
  return result;
}

UNLATCH_HIDDEN void* memmove(void* to, const void* from, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from) >= bytes) {
    return memcpy(to, from, bytes);
  }
  auto* const target = static_cast<volatile std::uint8_t*>(to);
  const auto* const source = static_cast<const volatile std::uint8_t*>(from);
  for (std::size_t i = bytes; i-- > 0;) target[i] = source[i];
  return to;
}
}
