// SPDX-License-Identifier: Apache-2.0
//
// System calls of the simulator itself, past the C library: its functions of the same names belong
// to the simulated program, which has them replaced.
#pragma once

namespace unlatch::lab {

/// The kernel's answer: negative numbers down to -4095 are errors.
inline long kernel_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                        long f = 0) noexcept {
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  register long sixth asm("r9") = f;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  return result;
}

inline bool is_error(long result) noexcept { return result < 0 && result >= -4095; }

}  // namespace unlatch::lab
