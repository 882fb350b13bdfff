// SPDX-License-Identifier: Apache-2.0
//
// Instructions that are easily stepped wrongly: each runs natively and in a transaction, with the
// same result; and registers that an abort must put back.
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "subject.hpp"

namespace unlatch::probe::testing {
namespace {

using bytes = std::array<unsigned char, 512>;

bytes some_bytes() {
  bytes result;
  std::iota(result.begin(), result.end(), 1);
  return result;
}

/// Whether `work` leaves the same in memory and returns the same, natively, in a transaction, and,
/// undone, nothing.
template <class Work>
bool same_in_transaction(Work work) {
  bytes native = some_bytes(), stepped = some_bytes(), undone = some_bytes();
  const long natively = work(native.data());
  if (aborted_with(_xbegin())) return false;
  const long in_transaction = work(stepped.data());
  _xend();
  if (_xbegin() == _XBEGIN_STARTED) {
    work(undone.data());
    _xabort(1);
  }
  return natively == in_transaction && native == stepped && undone == some_bytes();
}

bool moves_strings() {
  return same_in_transaction([](unsigned char* at) {
           void *to = at + 200, *from = at;
           long count = 100;
           asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count)::"memory");
           return count;
         }) &&
         same_in_transaction([](unsigned char* at) {
           void *to = at + 150, *from = at + 100;
           long count = 12;
           asm volatile("std; rep movsq; cld" : "+D"(to), "+S"(from), "+c"(count)::"memory");
           return count;
         }) &&
         same_in_transaction([](unsigned char* at) {
           void* to = at + 3;
           long count = 33;
           asm volatile("rep stosl" : "+D"(to), "+c"(count) : "a"(0x01020304) : "memory");
           return count;
         });
}

bool compares_strings() {
  return same_in_transaction([](unsigned char* at) {
           const void* from = at;
           long count = -1;
           asm volatile("repne scasb" : "+D"(from), "+c"(count) : "a"(77) : "memory", "cc");
           return count;
         }) &&
         same_in_transaction([](unsigned char* at) {
           const void *one = at, *other = at + 256;
           long count = 100;
           bool equal = false;
           asm volatile("repe cmpsb"
                        : "+D"(one), "+S"(other), "+c"(count), "=@cce"(equal)::"memory");
           return count + equal;
         }) &&
         same_in_transaction([](unsigned char* at) {
           const void *one = at, *other = at + 1;
           long count = 0;  // compares nothing, leaves the flags
           bool carry = false;
           asm volatile("stc; repe cmpsb"
                        : "+D"(one), "+S"(other), "+c"(count), "=@ccc"(carry)::"memory");
           return count + carry;
         });
}

bool changes_bits() {
  return same_in_transaction([](unsigned char* at) {
    bool first = false, second = false;
    const long far_bit = 1000, before = -70;
    unsigned char* const middle = at + 256;
    asm volatile("bts %2, (%1)" : "=@ccc"(first) : "r"(middle), "r"(far_bit) : "memory");
    asm volatile("btc %2, (%1)" : "=@ccc"(second) : "r"(middle), "r"(before) : "memory");
    return long{first} + 2 * second;
  });
}

bool uses_the_stack() {
  return same_in_transaction([](unsigned char* at) {
    long result = 5;
    asm volatile(
        "sub $128, %%rsp\n"
        "push %0\n"
        "push $7\n"
        "pushf\n"
        "pop %%rcx\n"
        "pop (%1)\n"
        "add (%%rsp), %0\n"
        "pop 8(%1)\n"
        "push %%rbp\n"
        "mov %%rsp, %%rbp\n"
        "sub $64, %%rsp\n"
        "leave\n"
        "push %0\n"
        "push 8(%1)\n"
        "pop (%%rsp)\n"  // the address is the one after the pop
        "pop %0\n"
        "add $128, %%rsp"
        : "+r"(result)
        : "r"(at)
        : "rcx", "memory", "cc");
    return result;
  });
}

bool makes_frames() {
  return same_in_transaction([](unsigned char* at) {
    long result = 0;
    asm volatile(
        "sub $128, %%rsp\n"
        "mov %%rbp, %%r8\n"
        "mov %%rsp, %%r9\n"
        "lea 64(%1), %%rbp\n"
        "enter $32, $0\n"
        "mov (%%rbp), %0\n"
        "leave\n"
        "sub %1, %0\n"  // 64, wherever the memory is
        "enter $16, $3\n"
        "mov -8(%%rbp), %%r10\n"   // of the outermost level
        "xor -16(%%rbp), %%r10\n"  // and the next
        "sub %%rbp, -24(%%rbp)\n"
        "sub -24(%%rbp), %%r10\n"
        "mov %%r9, %%rsp\n"
        "mov %%r8, %%rbp\n"
        "add $128, %%rsp\n"
        "add %%r10, %0\n"
        : "=&r"(result)
        : "r"(at)
        : "r8", "r9", "r10", "memory", "cc");
    return result;
  });
}

/// What ENTER has written is put back.
bool undoes_frames() {
  alignas(64) static unsigned char stack[1024];
  std::memset(stack, 0x5a, sizeof stack);
  asm volatile(
      "xbegin 1f\n"
      "lea 512(%0), %%rsp\n"
      "lea 900(%0), %%rbp\n"
      "enter $16, $31\n"
      "xabort $1\n"
      "1:"
      :
      : "r"(stack)
      : "rax", "memory", "cc");
  for (const unsigned char byte : stack) {
    if (byte != 0x5a) return false;
  }
  return true;
}

bool looks_up_in_tables() {
  return same_in_transaction([](unsigned char* at) {
    long result = 0;
    for (long i = 0; i < 16; ++i) {
      long word = 0x1200 + i;
      asm volatile("xlat" : "+a"(word) : "b"(at) : "memory");
      result = 31 * result + word;
    }
    return result;
  });
}

bool branches() {
  return same_in_transaction([](unsigned char* at) {
    long sum = 0, count = 10;
    asm volatile(
        "1: add %1, %0\n"
        "loop 1b\n"
        "jrcxz 2f\n"
        "add $1000, %0\n"
        "2: mov $3, %%ecx\n"
        "3: add $1, %0\n"
        "cmp $100, %0\n"
        "loopne 3b\n"
        "lea 4f(%%rip), %%rdx\n"
        "jmp *%%rdx\n"
        "add $1000, %0\n"
        "4: movq %%rdx, (%2)\n"
        "jmp 6f\n"
        "5: add $20, %0\n"
        "ret $0\n"
        "6: sub $128, %%rsp\n"
        "call 5b\n"
        "lea 5b(%%rip), %%rdx\n"
        "mov %%rdx, 8(%2)\n"
        "call *8(%2)\n"
        "call *%%rdx\n"
        "add $128, %%rsp\n"
        "movq $0, (%2)\n"
        "movq $0, 8(%2)"
        : "+r"(sum), "+c"(count)
        : "r"(at)
        : "rdx", "memory", "cc");
    return sum + count;
  });
}

bool tests_every_condition() {
  return same_in_transaction([](unsigned char* at) {
    unsigned long seen = 0;
    for (const long left : {-5L, -1L, 0L, 3L, 0x7fffffffffffffffL}) {
      for (const long right : {-5L, 1L, 0L, 3L}) {
// Shifts whether the jump is taken into `seen`.
#define UNLATCH_TAKEN(condition)                                                \
  {                                                                             \
    unsigned taken = 0;                                                         \
    asm volatile("cmp %2, %1\n\tj" condition " 1f\n\tjmp 2f\n1: mov $1, %0\n2:" \
                 : "+r"(taken)                                                  \
                 : "r"(left), "r"(right)                                        \
                 : "cc");                                                       \
    seen = seen * 3 + taken;                                                    \
  }
        UNLATCH_TAKEN("o");
        UNLATCH_TAKEN("no");
        UNLATCH_TAKEN("b");
        UNLATCH_TAKEN("ae");
        UNLATCH_TAKEN("e");
        UNLATCH_TAKEN("ne");
        UNLATCH_TAKEN("be");
        UNLATCH_TAKEN("a");
        UNLATCH_TAKEN("s");
        UNLATCH_TAKEN("ns");
        UNLATCH_TAKEN("p");
        UNLATCH_TAKEN("np");
        UNLATCH_TAKEN("l");
        UNLATCH_TAKEN("ge");
        UNLATCH_TAKEN("le");
        UNLATCH_TAKEN("g");
#undef UNLATCH_TAKEN
      }
    }
    at[0] = static_cast<unsigned char>(seen);
    return static_cast<long>(seen);
  });
}

bool changes_atomically() {
  return same_in_transaction([](unsigned char* at) {
    long add = 17, expected = 0, swap = 99;
    asm volatile("lock xadd %0, (%1)" : "+r"(add) : "r"(at) : "memory", "cc");
    std::memcpy(&expected, at + 64, sizeof expected);
    asm volatile("lock cmpxchg %1, 64(%2)" : "+a"(expected) : "r"(4711L), "r"(at) : "memory", "cc");
    asm volatile("xchg %0, 128(%1)" : "+r"(swap) : "r"(at) : "memory");
    return add + expected + swap;
  });
}

/// In assembly: compilers put VZEROUPPER, which aborts, after what uses wide registers.
bool gathers() {
  if (!__builtin_cpu_supports("avx2")) return true;
  return same_in_transaction([](unsigned char* at) {
    static const std::array<int, 8> indices{1, 5, 9, 13, 60, 2, 3, 4};
    static const std::array<long, 4> wide_indices{2, 40, 7, 11};
    asm volatile(
        "vmovdqu (%1), %%ymm5\n"
        "vpcmpeqd %%ymm6, %%ymm6, %%ymm6\n"
        "vpgatherdd %%ymm6, (%0, %%ymm5, 4), %%ymm7\n"
        "vmovdqu (%2), %%ymm5\n"
        "vpcmpeqd %%ymm6, %%ymm6, %%ymm6\n"
        "vpgatherqq %%ymm6, 3(%0, %%ymm5, 8), %%ymm8\n"
        "vmovdqu %%ymm7, 300(%0)\n"
        "vmovdqu %%ymm8, 350(%0)\n"
        :
        : "r"(at), "r"(indices.data()), "r"(wide_indices.data())
        : "memory", "xmm5", "xmm6", "xmm7", "xmm8");
    return long{at[300]};
  });
}

/// Changes every general register but RSP, and the flags, and aborts.
bool puts_general_registers_back() {
  std::array<std::uint64_t, 16> after{};
  asm volatile(
      "push %%rbp\n"
      "push %%rbx\n"
      "push %0\n"
      "mov $101, %%rbx\n mov $102, %%rcx\n mov $103, %%rdx\n mov $104, %%rsi\n"
      "mov $105, %%rdi\n mov $106, %%rbp\n mov $108, %%r8\n mov $109, %%r9\n"
      "mov $110, %%r10\n mov $111, %%r11\n mov $112, %%r12\n mov $113, %%r13\n"
      "mov $114, %%r14\n mov $115, %%r15\n"
      "mov $1, %%eax\n cmp $2, %%eax\n"  // carry and sign
      "mov $-1, %%eax\n"
      "xbegin 1f\n"
      "xor %%ebx, %%ebx\n xor %%ecx, %%ecx\n xor %%edx, %%edx\n xor %%esi, %%esi\n"
      "xor %%edi, %%edi\n xor %%ebp, %%ebp\n xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n"
      "xor %%r10d, %%r10d\n xor %%r11d, %%r11d\n xor %%r12d, %%r12d\n xor %%r13d, %%r13d\n"
      "xor %%r14d, %%r14d\n xor %%r15d, %%r15d\n"
      "push %%rax\n std\n cld\n"
      "xabort $9\n"
      "1: pushf\n"
      "xchg %%rax, 8(%%rsp)\n"  // the status for the address of `after`
      "mov %%rbx, 8(%%rax)\n mov %%rcx, 16(%%rax)\n mov %%rdx, 24(%%rax)\n"
      "mov %%rsi, 32(%%rax)\n mov %%rdi, 40(%%rax)\n mov %%rbp, 48(%%rax)\n"
      "mov %%r8, 56(%%rax)\n mov %%r9, 64(%%rax)\n mov %%r10, 72(%%rax)\n"
      "mov %%r11, 80(%%rax)\n mov %%r12, 88(%%rax)\n mov %%r13, 96(%%rax)\n"
      "mov %%r14, 104(%%rax)\n mov %%r15, 112(%%rax)\n"
      "pop 120(%%rax)\n"
      "pop (%%rax)\n"
      "pop %%rbx\n"
      "pop %%rbp\n"
      :
      : "a"(after.data())
      : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory",
        "cc");
  constexpr std::uint64_t carry_and_sign = 1u << 0 | 1u << 7;
  const std::array<std::uint64_t, 15> expected{0x09000001, 101, 102, 103, 104, 105, 106, 108,
                                               109,        110, 111, 112, 113, 114, 115};
  std::printf("status %#lx\n", static_cast<unsigned long>(after[0]));
  return std::memcmp(after.data(), expected.data(), sizeof expected) == 0 &&
         (after[15] & carry_and_sign) == carry_and_sign;
}

/// Fills vector registers, overwrites them in a transaction that aborts, and reads them again.
#define UNLATCH_VECTORS_BACK(name, isa, move, low, high, clear, bytes_each)                    \
  __attribute__((target(isa))) bool name() {                                                   \
    std::array<unsigned char, 2 * (bytes_each)> in{}, out{};                                   \
    std::iota(in.begin(), in.end(), 3);                                                        \
    unsigned status = _XBEGIN_STARTED;                                                         \
    asm volatile(move " (%1), %%" low "\n" move " " #bytes_each "(%1), %%" high                \
                      "\n"                                                                     \
                      "xbegin 1f\n" clear                                                      \
                      "xabort $1\n"                                                            \
                      "1:" move " %%" low ", (%2)\n" move " %%" high ", " #bytes_each "(%2)\n" \
                 : "+a"(status)                                                                \
                 : "r"(in.data()), "r"(out.data())                                             \
                 : "memory", "cc", "xmm3", "xmm15");                                           \
    return status == 0x01000001 && in == out;                                                  \
  }
UNLATCH_VECTORS_BACK(puts_xmm_back, "sse2", "movdqu", "xmm3", "xmm15",
                     "pxor %%xmm3, %%xmm3\npxor %%xmm15, %%xmm15\n", 16)
UNLATCH_VECTORS_BACK(puts_ymm_back, "avx2", "vmovdqu", "ymm3", "ymm15",
                     "vpxor %%ymm3, %%ymm3, %%ymm3\nvpxor %%ymm15, %%ymm15, %%ymm15\n", 32)
UNLATCH_VECTORS_BACK(puts_zmm_back, "avx512f", "vmovdqu64", "zmm3", "zmm31",
                     "vpxorq %%zmm3, %%zmm3, %%zmm3\nvpxorq %%zmm31, %%zmm31, %%zmm31\n", 64)
#undef UNLATCH_VECTORS_BACK

bool puts_vector_registers_back() {
  const bool has_ymm = __builtin_cpu_supports("avx2");
  const bool has_zmm = __builtin_cpu_supports("avx512f");
  std::printf("bytes %d\n", has_zmm ? 64 : has_ymm ? 32 : 16);
  return puts_xmm_back() && (!has_ymm || puts_ymm_back()) && (!has_zmm || puts_zmm_back());
}

bool puts_the_rounding_mode_back() {
  const unsigned before = _mm_getcsr();
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    _mm_setcsr(before ^ 0x6000);
    _xabort(1);
  }
  return aborted_with(status) && _mm_getcsr() == before;
}

/// A number that is changed in a register inside the transaction and by nobody else.
bool puts_a_number_back() {
  volatile double source = 1.5;
  double number = source;
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    number *= 3;
    source = number;
    _xabort(1);
  }
  return aborted_with(status) && number == 1.5 && source == 1.5;
}

bool uses_x87() {
  volatile long double number = 2;
  const unsigned status = _xbegin();
  if (status == _XBEGIN_STARTED) {
    number = number * number;
    _xend();
  }
  return aborted_with(status) && number == 2;
}

}  // namespace

subject_cases instruction_cases() {
  return {{"moves_strings", moves_strings},
          {"compares_strings", compares_strings},
          {"changes_bits", changes_bits},
          {"uses_the_stack", uses_the_stack},
          {"makes_frames", makes_frames},
          {"undoes_frames", undoes_frames},
          {"looks_up_in_tables", looks_up_in_tables},
          {"branches", branches},
          {"tests_every_condition", tests_every_condition},
          {"changes_atomically", changes_atomically},
          {"gathers", gathers},
          {"puts_general_registers_back", puts_general_registers_back},
          {"puts_vector_registers_back", puts_vector_registers_back},
          {"puts_the_rounding_mode_back", puts_the_rounding_mode_back},
          {"puts_a_number_back", puts_a_number_back},
          {"uses_x87", uses_x87}};
}

}  // namespace unlatch::probe::testing
