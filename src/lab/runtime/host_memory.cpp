// SPDX-License-Identifier: Apache-2.0
#include "host_memory.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kernel_call.hpp"

namespace unlatch::lab {

namespace {
long number(const void* at) noexcept { return reinterpret_cast<long>(at); }

void say(const char* text) noexcept {
  long length = 0;
  while (text[length] != 0) ++length;
  kernel_call(SYS_write, 2, number(text), length);
}
}  // namespace

void fail(const char* what) noexcept {
  say("unlatch-lab: ");
  say(what);
  say("\n");
  kernel_call(SYS_kill, kernel_call(SYS_getpid), SIGABRT);
  for (;;) kernel_call(SYS_exit_group, 134);
}

void* reserve(std::size_t bytes, std::uintptr_t at) noexcept {
  long flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (at != 0) flags |= MAP_FIXED_NOREPLACE;
  const long place = kernel_call(SYS_mmap, static_cast<long>(at), static_cast<long>(bytes),
                                 PROT_READ | PROT_WRITE, flags, -1, 0);
  if (is_error(place) || (at != 0 && place != static_cast<long>(at))) {
    fail("the host refuses memory for the simulation, or something else lies at its addresses");
  }
  return reinterpret_cast<void*>(place);
}

void forget(void* at, std::size_t bytes) noexcept {
  kernel_call(SYS_madvise, number(at), static_cast<long>(bytes), MADV_DONTNEED);
}

void give_back(void* at, std::size_t bytes) noexcept {
  kernel_call(SYS_munmap, number(at), static_cast<long>(bytes));
}

void* enlarge(void* at, std::size_t bytes, std::size_t to) noexcept {
  const long moved = kernel_call(SYS_mremap, number(at), static_cast<long>(bytes),
                                 static_cast<long>(to), MREMAP_MAYMOVE);
  if (is_error(moved)) fail("the host has no memory left for the simulation");
  return reinterpret_cast<void*>(moved);
}

void forbid(void* at, std::size_t bytes) noexcept {
  kernel_call(SYS_mprotect, number(at), static_cast<long>(bytes), PROT_NONE);
}

}  // namespace unlatch::lab
