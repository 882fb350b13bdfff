// SPDX-License-Identifier: Apache-2.0
//
// The start of a program that contains the lab: the same addresses in every run.
//
// The C library starts main() through __libc_start_main, which is defined here anew: it restarts
// the program without address space randomisation where it is on (and the kernel lets us turn it
// off), and runs main() on a stack at a fixed address, so that neither the environment's size nor
// the arguments' moves what main() keeps on its stack.
#include <dlfcn.h>
#include <errno.h>
#include <sys/personality.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

#include "host_memory.hpp"
#include "kernel_call.hpp"

// Calls `function` on another stack, and returns what it returns.
asm(R"(
.text
.hidden unlatch_lab_call_on
.globl unlatch_lab_call_on
.type unlatch_lab_call_on,@function
unlatch_lab_call_on:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp,%rbp
  .cfi_def_cfa_register %rbp
  mov %rdi,%rsp
  mov %rsi,%rax
  mov %edx,%edi
  mov %rcx,%rsi
  mov %r8,%rdx
  call *%rax
  mov %rbp,%rsp
  pop %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
.size unlatch_lab_call_on,.-unlatch_lab_call_on
)");

using main_function = int (*)(int, char**, char**);
extern "C" int unlatch_lab_call_on(void* top, main_function function, int count, char** arguments,
                                   char** environment);

namespace unlatch::lab {
namespace {

constexpr std::uintptr_t main_stack = 0x0f00'0000'0000;
constexpr std::size_t main_stack_bytes = std::size_t{8} << 20;

main_function program_main;

int main_on_fixed_stack(int count, char** arguments, char** environment) {
  auto* const stack = static_cast<char*>(reserve(main_stack_bytes, main_stack));
  return unlatch_lab_call_on(stack + main_stack_bytes - 64, program_main, count, arguments,
                             environment);
}

void restart_without_randomisation(char** arguments) noexcept {
  constexpr long ask = 0xffffffff;
  const long now = kernel_call(SYS_personality, ask);
  if (is_error(now) || (now & ADDR_NO_RANDOMIZE) != 0) return;
  if (is_error(kernel_call(SYS_personality, now | ADDR_NO_RANDOMIZE))) return;
  int count = 0;
  while (arguments[count] != nullptr) ++count;
  char** const environment = arguments + count + 1;
  kernel_call(SYS_execve, reinterpret_cast<long>("/proc/self/exe"),
              reinterpret_cast<long>(arguments), reinterpret_cast<long>(environment));
  // Where it cannot be restarted it goes on: only addresses of shared libraries differ then.
}

}  // namespace
}  // namespace unlatch::lab

extern "C" __attribute__((visibility("default"))) int __libc_start_main(
    main_function program, int count, char** arguments, void (*initialize)(), void (*finish)(),
    void (*finish_loader)(), void* stack_end) {
  unlatch::lab::restart_without_randomisation(arguments);
  unlatch::lab::program_main = program;
  using start_function =
      int (*)(main_function, int, char**, void (*)(), void (*)(), void (*)(), void*);
  const auto start = reinterpret_cast<start_function>(dlsym(RTLD_NEXT, "__libc_start_main"));
  return start(unlatch::lab::main_on_fixed_stack, count, arguments, initialize, finish,
               finish_loader, stack_end);
}
