// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/context.hpp"

// clang-format off
asm(R"(
  .text
  .globl unlatch_enter_from_jump
  .hidden unlatch_enter_from_jump
  .type unlatch_enter_from_jump, @function
unlatch_enter_from_jump:
  pushfq
  push %rax
  push %rcx
  push %rdx
  push %rbx
  push %rbp
  push %rsi
  push %rdi
  push %r8
  push %r9
  push %r10
  push %r11
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, %rdi
  and $-16, %rsp
  cld
  call unlatch_begin_from_jump
  jmp unlatch_enter_engine
)");
// clang-format on
