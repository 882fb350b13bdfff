// SPDX-License-Identifier: Apache-2.0
//
// A driver without the simulated machine: the write hooks log the old bytes, and an abort, at the
// end of the body, writes them back. What is not undone had no hook. Not instrumented; memory that
// the body allocates is given back at an abort, what it frees stays until the end.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "conformance.hpp"
#include "src/instrument/hooks.hpp"

namespace {

constexpr std::size_t log_bytes = std::size_t{64} << 20;
constexpr std::size_t most_blocks = 1 << 20;

struct entry {
  unsigned char* address;
  std::size_t count;
};

bool active = false;
unsigned char* log_end = nullptr;
unsigned char* log_begin = nullptr;
void** allocated = nullptr;
std::size_t allocated_count = 0;
void** freed = nullptr;
std::size_t freed_count = 0;
std::uint64_t clock_word = 0;
constexpr std::uint64_t no_tags[unlatch::lab::tag_entries] = {};

/// The old bytes, then what they are.
void log(void* address, std::size_t count) {
  if (!active || count == 0) return;
  if (static_cast<std::size_t>(log_end - log_begin) + count + sizeof(entry) > log_bytes) abort();
  memcpy(log_end, address, count);
  const entry what{static_cast<unsigned char*>(address), count};
  memcpy(log_end + count, &what, sizeof what);
  log_end += count + sizeof what;
}

void begin() {
  if (log_begin == nullptr) {
    log_begin = static_cast<unsigned char*>(malloc(log_bytes));
    allocated = static_cast<void**>(malloc(most_blocks * sizeof(void*)));
    freed = static_cast<void**>(malloc(most_blocks * sizeof(void*)));
  }
  log_end = log_begin;
  allocated_count = freed_count = 0;
  active = true;
}

void undo() {
  while (log_end != log_begin) {
    entry what;
    log_end -= sizeof what;
    memcpy(&what, log_end, sizeof what);
    log_end -= what.count;
    memcpy(what.address, log_end, what.count);
  }
  for (std::size_t i = 0; i < allocated_count; ++i) free(allocated[i]);
}

void finish() {
  active = false;
  for (std::size_t i = 0; i < freed_count; ++i) free(freed[i]);
}

void* take(std::size_t size, std::size_t alignment) {
  void* const block = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (active) allocated[allocated_count++] = block;
  return block;
}

void give(void* block) {
  if (active) {
    freed[freed_count++] = block;
  } else {
    free(block);
  }
}

}  // namespace

namespace conformance {

const bool has_machine = false;

void run_area(void (*area)()) { area(); }

bool run_and_abort(action body, void* argument) {
  begin();
  body(argument);
  active = false;
  undo();
  return true;
}

bool run_and_commit(action body, void* argument) {
  begin();
  body(argument);
  finish();
  return true;
}

void abort_here() { abort(); }

}  // namespace conformance

void* operator new(std::size_t size) { return take(size, 16); }
void* operator new[](std::size_t size) { return take(size, 16); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return take(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept { give(block); }
void operator delete[](void* block) noexcept { give(block); }
void operator delete(void* block, std::size_t) noexcept { give(block); }
void operator delete[](void* block, std::size_t) noexcept { give(block); }
void operator delete(void* block, std::align_val_t) noexcept { give(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { give(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { give(block); }

extern "C" {

unlatch::lab::fast_path unlatch_lab_fast{&clock_word, 0, 1, 0, ~0UL, 0, 0, 0, 0, no_tags, no_tags};

UNLATCH_LAB_HOOK void unlatch_lab_read_slow(void*, std::uint32_t, std::uint32_t) {}
UNLATCH_LAB_HOOK void unlatch_lab_write_slow(void* address, std::uint32_t size, std::uint32_t) {
  log(address, size & unlatch::lab::size_mask);
}
UNLATCH_LAB_HOOK void unlatch_lab_read(void*, std::uint32_t, std::uint32_t) {}
UNLATCH_LAB_HOOK void unlatch_lab_write(void* address, std::uint32_t size, std::uint32_t) {
  log(address, size & unlatch::lab::size_mask);
}
UNLATCH_LAB_HOOK void unlatch_lab_undo(void* address, std::uint32_t size) { log(address, size); }
UNLATCH_LAB_HOOK void unlatch_lab_block(std::uint32_t) {}
UNLATCH_LAB_HOOK void unlatch_lab_turn(std::uint32_t) {}
UNLATCH_LAB_HOOK void unlatch_lab_turn_slow(std::uint32_t) {}
UNLATCH_LAB_HOOK void unlatch_lab_atomic(void* address, std::uint32_t size, std::uint32_t what,
                                         std::uint32_t) {
  if ((what & 15) != 0) log(address, size);
}
UNLATCH_LAB_HOOK void unlatch_lab_copy(void* to, void*, std::uint64_t count, std::uint32_t) {
  log(to, count);
}
UNLATCH_LAB_HOOK void unlatch_lab_range(void* address, std::uint64_t count, std::uint32_t how,
                                        std::uint32_t) {
  if ((how & 1) != 0) log(address, count);
}
UNLATCH_LAB_HOOK void unlatch_lab_mask(void* address, std::uint32_t element, std::uint64_t mask,
                                       std::uint32_t write, std::uint32_t) {
  for (std::uint32_t i = 0; write != 0 && i < 64; ++i) {
    if ((mask >> i & 1) != 0) log(static_cast<char*>(address) + i * element, element);
  }
}
UNLATCH_LAB_HOOK void unlatch_lab_gather(void** addresses, std::uint32_t elements,
                                         std::uint32_t element, std::uint64_t mask,
                                         std::uint32_t write, std::uint32_t) {
  for (std::uint32_t i = 0; write != 0 && i < elements; ++i) {
    if ((mask >> i & 1) != 0) log(addresses[i], element);
  }
}
UNLATCH_LAB_HOOK void unlatch_lab_fence(std::uint32_t, std::uint32_t) {}
UNLATCH_LAB_HOOK void unlatch_lab_string(std::uint32_t which, const char* first, const char* second,
                                         std::uint64_t count) {
  auto* const to = const_cast<char*>(first);
  switch (static_cast<unlatch::lab::string_operation>(which)) {
    case unlatch::lab::string_operation::copy:
      return log(to, strlen(second) + 1);
    case unlatch::lab::string_operation::copy_padded:
      return log(to, count);
    case unlatch::lab::string_operation::append:
      return log(to + strlen(first), strnlen(second, count) + 1);
    default:
      return;
  }
}
UNLATCH_LAB_HOOK void unlatch_lab_instruction(std::uint32_t, std::uint32_t) {}
UNLATCH_LAB_HOOK std::uint64_t unlatch_lab_timestamp(std::uint32_t) { return clock_word; }

}  // extern "C"
