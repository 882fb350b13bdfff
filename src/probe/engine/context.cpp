// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/context.hpp"

namespace unlatch::probe::engine {

extern "C" {
alignas(64) context unlatch_context;
alignas(64) char unlatch_engine_stack[1 << 16];
}

// clang-format off
asm(R"(
.macro load_program_registers
  mov unlatch_context+0(%rip), %rax
  mov unlatch_context+8(%rip), %rcx
  mov unlatch_context+16(%rip), %rdx
  mov unlatch_context+24(%rip), %rbx
  mov unlatch_context+40(%rip), %rbp
  mov unlatch_context+48(%rip), %rsi
  mov unlatch_context+56(%rip), %rdi
  mov unlatch_context+64(%rip), %r8
  mov unlatch_context+72(%rip), %r9
  mov unlatch_context+80(%rip), %r10
  mov unlatch_context+88(%rip), %r11
  mov unlatch_context+96(%rip), %r12
  mov unlatch_context+104(%rip), %r13
  mov unlatch_context+112(%rip), %r14
  mov unlatch_context+120(%rip), %r15
.endm

  .text
  .hidden unlatch_context
  .hidden unlatch_engine_stack

  .globl unlatch_run_slot
  .hidden unlatch_run_slot
  .type unlatch_run_slot, @function
unlatch_run_slot:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, unlatch_context+144(%rip)
  pushq unlatch_context+136(%rip)
  popfq
  load_program_registers
  mov unlatch_context+32(%rip), %rsp
  jmp *unlatch_context+152(%rip)

  .globl unlatch_leave_slot
  .hidden unlatch_leave_slot
  .type unlatch_leave_slot, @function
unlatch_leave_slot:
  mov %rsp, unlatch_context+32(%rip)
  mov unlatch_context+144(%rip), %rsp
  pushfq
  popq unlatch_context+136(%rip)
  cld
  mov %rax, unlatch_context+0(%rip)
  mov %rcx, unlatch_context+8(%rip)
  mov %rdx, unlatch_context+16(%rip)
  mov %rbx, unlatch_context+24(%rip)
  mov %rbp, unlatch_context+40(%rip)
  mov %rsi, unlatch_context+48(%rip)
  mov %rdi, unlatch_context+56(%rip)
  mov %r8, unlatch_context+64(%rip)
  mov %r9, unlatch_context+72(%rip)
  mov %r10, unlatch_context+80(%rip)
  mov %r11, unlatch_context+88(%rip)
  mov %r12, unlatch_context+96(%rip)
  mov %r13, unlatch_context+104(%rip)
  mov %r14, unlatch_context+112(%rip)
  mov %r15, unlatch_context+120(%rip)
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret

  .globl unlatch_enter_engine
  .hidden unlatch_enter_engine
  .type unlatch_enter_engine, @function
unlatch_enter_engine:
  lea unlatch_engine_stack+65536(%rip), %rsp
  cld
  call *unlatch_context+160(%rip)
  mov %rax, %rdi

  # rdi: the frame. From here on the stack is the program's. Signals may arrive as soon as the mask
  # is given back; their frames lie below the stack pointer, which stays below what is still needed:
  # the last instruction takes the address, and the red zone with it, off the stack.
  mov %rdi, %rbx
  mov %rdi, %rsp
  and $-16, %rsp
  mov (%rbx), %rdi
  call unlatch_release_engine
  lea 8(%rbx), %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %r11
  pop %r10
  pop %r9
  pop %r8
  pop %rdi
  pop %rsi
  pop %rbp
  pop %rbx
  pop %rdx
  pop %rcx
  pop %rax
  popfq
  ret $128
)");
// clang-format on

resume_frame* frame_for_program(std::uint64_t signal_mask) noexcept {
  const registers& program = unlatch_context.program;
  auto* const frame =
      reinterpret_cast<resume_frame*>(program.general[rsp] - red_zone - sizeof(resume_frame));
  frame->signal_mask = signal_mask;
  for (unsigned i = 0; i < pushed_count; ++i) frame->general[i] = program.general[pushed_order[i]];
  frame->flags = program.flags;
  frame->ip = program.ip;
  return frame;
}

}  // namespace unlatch::probe::engine
