// SPDX-License-Identifier: Apache-2.0
//
// System calls as the engine makes them: without libc, which the interrupted program may be in the
// middle of, and without touching errno.
#pragma once

#include <sys/syscall.h>

#include <cstdint>

namespace unlatch::probe::engine {

/// The kernel's result: negative errno on failure.
template <class... Arguments>
inline long system_call(long number, Arguments... given) noexcept {
  static_assert(sizeof...(given) <= 6);
  const long words[7] = {(long)given...};
  register long r10 asm("r10") = words[3];
  register long r8 asm("r8") = words[4];
  register long r9 asm("r9") = words[5];
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(words[0]), "S"(words[1]), "d"(words[2]), "r"(r10), "r"(r8),
                 "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline int thread_id() noexcept { return static_cast<int>(system_call(SYS_gettid)); }
inline int process_id() noexcept { return static_cast<int>(system_call(SYS_getpid)); }

/// Sleeps while `*word` is `expected`, at most `timeout_ms`; 0: until woken. Whether that time has
/// passed.
bool futex_wait(std::uint32_t* word, std::uint32_t expected, std::uint32_t timeout_ms) noexcept;
/// Wakes at most `most` sleepers.
void futex_wake(std::uint32_t* word, int most = 0x7fffffff) noexcept;

/// What the object's complaints begin with, as "unlatch emulate: ". Each preloaded object has one.
extern const char complaint_prefix[];
/// Writes the prefix, the text and a line break to standard error.
void complain(const char* text) noexcept;

}  // namespace unlatch::probe::engine
