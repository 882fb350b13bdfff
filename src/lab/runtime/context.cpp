// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "kernel_call.hpp"

// A transaction begins in unlatch_lab_begin: it saves what unlatch_lab_switch saves, so that an
// abort can resume the thread there by a switch.
asm(R"(
.text
.globl unlatch_lab_switch
.hidden unlatch_lab_switch
.type unlatch_lab_switch,@function
unlatch_lab_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,(%rdi)
  mov %rsi,%rsp
  mov %rdx,%rax
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size unlatch_lab_switch,.-unlatch_lab_switch

.globl unlatch_lab_begin_elided
.type unlatch_lab_begin_elided,@function
unlatch_lab_begin_elided:
  mov $1,%esi
  jmp unlatch_lab_begin_any
.size unlatch_lab_begin_elided,.-unlatch_lab_begin_elided

.globl unlatch_lab_begin
.type unlatch_lab_begin,@function
unlatch_lab_begin:
  xor %esi,%esi
unlatch_lab_begin_any:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp,%rdi
  sub $8,%rsp
  call unlatch_lab_begin_at
  add $8,%rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size unlatch_lab_begin,.-unlatch_lab_begin

.globl unlatch_lab_leave
.hidden unlatch_lab_leave
.type unlatch_lab_leave,@function
unlatch_lab_leave:
  mov %rdi,%rsp
  xor %ebp,%ebp
  call *%rsi
  ud2
.size unlatch_lab_leave,.-unlatch_lab_leave
)");

extern "C" [[noreturn]] void unlatch_lab_leave(void* top, void (*function)()) noexcept;

namespace unlatch::lab::context {

namespace {
alignas(64) char own_stack[256 * 1024];
const bool has_fsgsbase = (getauxval(AT_HWCAP2) & 2) != 0;
}  // namespace

void leave_for(void (*function)()) noexcept {
  unlatch_lab_leave(own_stack + sizeof own_stack, function);
}

std::uintptr_t prepare(std::uintptr_t top, void (*function)()) noexcept {
  auto* stack = reinterpret_cast<std::uint64_t*>(top);
  *--stack = 0;  // where `function` would return to; also aligns its frame
  *--stack = reinterpret_cast<std::uint64_t>(function);
  for (int i = 0; i < 6; ++i) *--stack = 0;
  return reinterpret_cast<std::uintptr_t>(stack);
}

std::uintptr_t storage() noexcept {
  std::uintptr_t base = 0;
  asm("mov %%fs:0,%0" : "=r"(base));  // the thread control block begins with its own address
  return base;
}

void set_storage(std::uintptr_t base) noexcept {
  if (has_fsgsbase) {
    asm volatile("wrfsbase %0" ::"r"(base));
  } else {
    kernel_call(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(base));
  }
}

}  // namespace unlatch::lab::context
