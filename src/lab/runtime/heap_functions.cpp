// SPDX-License-Identifier: Apache-2.0
//
// malloc and operator new, for everything in the program: they come from heap.hpp's arena.
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <new>

#include "../../instrument/hooks.hpp"
#include "heap.hpp"
#include "host_memory.hpp"

namespace heap = unlatch::lab::heap;

namespace {

std::uintptr_t code_of(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}

void* allocate(std::size_t bytes, std::size_t alignment, const void* code) noexcept {
  void* const block = heap::allocate(bytes == 0 ? 1 : bytes, alignment, code_of(code));
  if (block == nullptr) errno = ENOMEM;
  return block;
}

// operator new has no exceptions to throw here: the runtime is built without.
void* allocate_or_fail(std::size_t bytes, std::size_t alignment, const void* code) noexcept {
  void* const block = allocate(bytes, alignment, code);
  if (block == nullptr) unlatch::lab::fail("the simulated heap (16 GiB) is full");
  return block;
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define VISIBLE __attribute__((visibility("default")))

extern "C" {

VISIBLE void* malloc(std::size_t bytes) noexcept { return allocate(bytes, 16, CALLER); }

VISIBLE void free(void* block) noexcept { heap::free(block); }

VISIBLE void* calloc(std::size_t count, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  void* const block = allocate(all, 16, CALLER);
  if (block == nullptr) return nullptr;
  unlatch_lab_range(block, all, 1, 0);
  return std::memset(block, 0, all);
}

VISIBLE void* realloc(void* block, std::size_t bytes) noexcept {
  if (block == nullptr) return allocate(bytes, 16, CALLER);
  const std::size_t before = heap::usable_bytes(block);
  if (bytes != 0 && bytes <= before && bytes >= before / 2) return block;
  void* const moved = allocate(bytes, 16, CALLER);
  if (moved == nullptr) return nullptr;
  const std::size_t kept = before < bytes ? before : bytes;
  unlatch_lab_copy(moved, block, kept, 0);
  std::memcpy(moved, block, kept);
  heap::free(block);
  return moved;
}

VISIBLE void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return allocate(bytes, alignment, CALLER);
}
VISIBLE void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return allocate(bytes, alignment, CALLER);
}
VISIBLE int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
  void* const block = allocate(bytes, alignment, CALLER);
  if (block == nullptr) return ENOMEM;
  unlatch_lab_range(result, sizeof *result, 1, 0);
  *result = block;
  return 0;
}
VISIBLE void* valloc(std::size_t bytes) noexcept { return allocate(bytes, 4096, CALLER); }
VISIBLE void* pvalloc(std::size_t bytes) noexcept {
  return allocate((bytes + 4095) & ~std::size_t{4095}, 4096, CALLER);
}
VISIBLE std::size_t malloc_usable_size(void* block) noexcept { return heap::usable_bytes(block); }

}  // extern "C"

VISIBLE void* operator new(std::size_t bytes) { return allocate_or_fail(bytes, 16, CALLER); }
VISIBLE void* operator new[](std::size_t bytes) { return allocate_or_fail(bytes, 16, CALLER); }
VISIBLE void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, 16, CALLER);
}
VISIBLE void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, 16, CALLER);
}
VISIBLE void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_fail(bytes, static_cast<std::size_t>(alignment), CALLER);
}
VISIBLE void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_fail(bytes, static_cast<std::size_t>(alignment), CALLER);
}
VISIBLE void* operator new(std::size_t bytes, std::align_val_t alignment,
                           const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment), CALLER);
}
VISIBLE void* operator new[](std::size_t bytes, std::align_val_t alignment,
                             const std::nothrow_t&) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment), CALLER);
}
VISIBLE void operator delete(void* block) noexcept { heap::free(block); }
VISIBLE void operator delete[](void* block) noexcept { heap::free(block); }
VISIBLE void operator delete(void* block, std::size_t) noexcept { heap::free(block); }
VISIBLE void operator delete[](void* block, std::size_t) noexcept { heap::free(block); }
VISIBLE void operator delete(void* block, const std::nothrow_t&) noexcept { heap::free(block); }
VISIBLE void operator delete[](void* block, const std::nothrow_t&) noexcept { heap::free(block); }
VISIBLE void operator delete(void* block, std::align_val_t) noexcept { heap::free(block); }
VISIBLE void operator delete[](void* block, std::align_val_t) noexcept { heap::free(block); }
VISIBLE void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  heap::free(block);
}
VISIBLE void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  heap::free(block);
}
VISIBLE void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  heap::free(block);
}
VISIBLE void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  heap::free(block);
}
