// SPDX-License-Identifier: Apache-2.0
//
// The program's general registers while the engine runs its code, and the switches between the two.
//
// There is one context for the process: transactions are emulated one at a time, with the other
// threads stopped, so the thread that owns the engine owns the context. Code that has only the
// program's registers can therefore reach it by an address; it needs no register and no segment.
//
// The engine is compiled without vector registers: the program's stay live while it runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace unlatch::probe::engine {

/// General registers by their number in an instruction's encoding.
enum gpr : std::uint8_t {
  rax,
  rcx,
  rdx,
  rbx,
  rsp,
  rbp,
  rsi,
  rdi,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15
};

struct registers {
  std::uint64_t general[16];
  std::uint64_t ip;
  std::uint64_t flags;
};

namespace flag {
inline constexpr std::uint64_t carry = 1u << 0;
inline constexpr std::uint64_t parity = 1u << 2;
inline constexpr std::uint64_t adjust = 1u << 4;
inline constexpr std::uint64_t zero = 1u << 6;
inline constexpr std::uint64_t sign = 1u << 7;
inline constexpr std::uint64_t direction = 1u << 10;
inline constexpr std::uint64_t overflow = 1u << 11;
inline constexpr std::uint64_t arithmetic = carry | parity | adjust | zero | sign | overflow;
}  // namespace flag

struct resume_frame;

/// What context.cpp's assembly works on, at these offsets.
struct context {
  registers program;
  std::uint64_t engine_stack;  ///< the engine's stack pointer while program code runs
  std::uint64_t slot;          ///< the code to run
  resume_frame* (*run)();      ///< what unlatch_enter_engine calls
};
static_assert(offsetof(context, program.ip) == 128 && offsetof(context, program.flags) == 136);
static_assert(offsetof(context, engine_stack) == 144 && offsetof(context, slot) == 152 &&
              offsetof(context, run) == 160);

/// What the program goes on with. It lies on the program's own stack, below the 128 bytes that the
/// x86-64 ABI lets a function use there unannounced, where a signal's frame could lie as well:
/// once the engine is free, another thread may use the engine's stack.
struct resume_frame {
  std::uint64_t signal_mask;
  std::uint64_t general[15];  ///< r15 to rax, without rsp
  std::uint64_t flags;
  std::uint64_t ip;
};
inline constexpr std::uint64_t red_zone = 128;

/// The order in memory of registers that context.cpp's assembly pushes and pops; RSP is not among
/// them.
inline constexpr gpr pushed_order[] = {r15, r14, r13, r12, r11, r10, r9, r8,
                                       rdi, rsi, rbp, rbx, rdx, rcx, rax};
inline constexpr unsigned pushed_count = sizeof pushed_order / sizeof pushed_order[0];

extern "C" {
extern context unlatch_context;

/// Runs unlatch_context.slot with the program's registers, and stores them when it is done: when it
/// jumps to unlatch_leave_slot.
void unlatch_run_slot() noexcept;
void unlatch_leave_slot() noexcept;

/// Where a thread goes, by whatever way, once it owns the engine and the context is filled: calls
/// unlatch_context.run on the engine's stack and resumes the program with the frame that returns.
void unlatch_enter_engine() noexcept;
/// Where the jump that replaces an XBEGIN leads, with the address of the XBEGIN pushed below the
/// red zone; it calls unlatch_begin_from_jump() (enter_from_jump.cpp).
void unlatch_enter_from_jump() noexcept;
void unlatch_begin_from_jump(const std::uint64_t* pushed) noexcept;

// Each object that uses the engine has this.
/// Frees the engine. Called on the program's stack; the signal mask is given back afterwards.
void unlatch_release_engine(std::uint64_t signal_mask) noexcept;
}

/// The frame with which the program goes on from the context, on its own stack.
[[nodiscard]] resume_frame* frame_for_program(std::uint64_t signal_mask) noexcept;

}  // namespace unlatch::probe::engine
