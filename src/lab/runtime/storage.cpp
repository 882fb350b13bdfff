// SPDX-License-Identifier: Apache-2.0
#include "storage.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstring>

#include "context.hpp"
#include "host_memory.hpp"
#include "kernel_call.hpp"
#include "machine.hpp"

namespace unlatch::lab::storage {

namespace {

constexpr std::uintptr_t parked_address = 0x1100'0000'0000;
constexpr std::size_t parked_bytes = 64 * 1024;

std::uintptr_t bases[most_threads];
std::atomic<std::uint32_t> parked{0};  // of the host's threads: how many have said where they are

void* park(void* base) {
  *static_cast<std::uintptr_t*>(base) = context::storage();
  parked.fetch_add(1, std::memory_order_release);
  for (;;) kernel_call(SYS_pause);
}

// The program's own thread-local variables: a copy of this image lies below each thread's base.
struct image {
  const void* data = nullptr;
  std::size_t initialized = 0;
  std::size_t bytes = 0;
  std::size_t below_base = 0;
};

image find_image() noexcept {
  image found;
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* out) {
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = module->dlpi_phdr[i];
          if (part.p_type != PT_TLS) continue;
          auto& result = *static_cast<image*>(out);
          result.data = reinterpret_cast<const void*>(module->dlpi_addr + part.p_vaddr);
          result.initialized = part.p_filesz;
          result.bytes = part.p_memsz;
          result.below_base = (part.p_memsz + part.p_align - 1) & -part.p_align;
        }
        return 1;  // the program is the first module
      },
      &found);
  return found;
}

void make_parked(std::uint32_t number) noexcept {
  using create_function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<create_function>(dlsym(RTLD_NEXT, "pthread_create"));
  using set_stack_function = int (*)(pthread_attr_t*, void*, std::size_t);
  static const auto set_stack =
      reinterpret_cast<set_stack_function>(dlsym(RTLD_NEXT, "pthread_attr_setstack"));
  void* const stack = reserve(parked_bytes, parked_address + number * 2 * parked_bytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  set_stack(&attributes, stack, parked_bytes);
  std::uint64_t before = 0;  // the parked thread takes none of the process's signals
  const std::uint64_t all = ~std::uint64_t{0};
  const auto set_signals = [](const std::uint64_t* to, std::uint64_t* old) {
    kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(to),
                reinterpret_cast<long>(old), sizeof *to);
  };
  set_signals(&all, &before);
  const std::uint32_t already = parked.load(std::memory_order_acquire);
  pthread_t handle;
  const int error = create(&handle, &attributes, park, &bases[number]);
  set_signals(&before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) fail("the host makes no more threads to borrow thread-local storage from");
  while (parked.load(std::memory_order_acquire) == already) kernel_call(SYS_sched_yield);
}

}  // namespace

std::uintptr_t stack_of(std::uint32_t number) noexcept {
  static bool reserved[most_threads];
  const std::uintptr_t lowest = stacks_address + number * stack_bytes;
  if (!reserved[number]) {
    reserve(stack_bytes, lowest);
    forbid(reinterpret_cast<void*>(lowest), 4096);  // so that an overflow is noticed
    reserved[number] = true;
  }
  return lowest;
}

std::uintptr_t fresh(std::uint32_t number) noexcept {
  static const image program = find_image();
  if (bases[number] == 0) make_parked(number);
  auto* const variables = reinterpret_cast<char*>(bases[number] - program.below_base);
  std::memcpy(variables, program.data, program.initialized);
  std::memset(variables + program.initialized, 0, program.bytes - program.initialized);
  return bases[number];
}

}  // namespace unlatch::lab::storage
