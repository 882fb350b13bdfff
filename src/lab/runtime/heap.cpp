// SPDX-License-Identifier: Apache-2.0
#include "heap.hpp"

#include <bit>

#include "machine.hpp"

namespace unlatch::lab::heap {

namespace {

constexpr std::size_t piece_bytes = 64 * 1024;
constexpr std::size_t pieces = arena_bytes / piece_bytes;
constexpr std::uint32_t small_classes = 20;
constexpr std::size_t small_sizes[small_classes] = {16,   32,   48,   64,   80,    96,   128,
                                                    192,  256,  320,  384,  512,   768,  1024,
                                                    1536, 2048, 4096, 8192, 16384, 32768};
constexpr std::uint8_t large_class = 255;   // of the piece with which a large block begins
constexpr std::uint8_t inside_large = 254;  // of the pieces after it
constexpr std::uint32_t shelves = 160;      // of free large blocks, eight to a doubling
constexpr cycles allocate_cost = 20;
constexpr cycles free_cost = 15;

struct free_block {
  free_block* next;
};

// The lists of one CPU, or of the host.
struct lists {
  free_block* free[small_classes];
  std::uintptr_t next[small_classes];  // in the piece being cut up
  std::uintptr_t end[small_classes];
};

// The arena has two parts: for the program and for libraries.
struct part {
  std::uintptr_t end;  // of what has been handed out
  std::uintptr_t limit;
  free_block* large[shelves];
};

part parts[2];
lists* every;                 // one for each CPU, then the host's, then the libraries'
std::uint8_t* class_of;       // by piece; 0: not handed out, else size class + 1, or as above
std::uint32_t* allocated_by;  // by 16 bytes of the arena: who allocated the block that begins there
std::uint8_t class_for[64 + 1];  // by size in units of 16, up to 1024

void open() noexcept {
  reserve(arena_bytes, arena_address);
  every = static_cast<lists*>(reserve((most_cpus + 2) * sizeof(lists)));
  class_of = static_cast<std::uint8_t*>(reserve(pieces));
  allocated_by = static_cast<std::uint32_t*>(reserve(arena_bytes / 16 * sizeof(std::uint32_t)));
  std::uint8_t size_class = 0;
  for (std::size_t units = 0; units <= 64; ++units) {
    while (small_sizes[size_class] < units * 16) ++size_class;
    class_for[units] = size_class;
  }
  parts[0].end = arena_address;
  parts[0].limit = parts[1].end = arena_address + program_bytes;
  parts[1].limit = arena_address + arena_bytes;
}

lists& lists_for(bool library) noexcept {
  if (library) return every[most_cpus + 1];
  return every[the.running == nullptr ? most_cpus : the.running->number];
}

bool is_library(std::uintptr_t block) noexcept { return block >= arena_address + program_bytes; }

std::size_t piece_of(std::uintptr_t address) noexcept {
  return (address - arena_address) / piece_bytes;
}

std::uint32_t small_class(std::size_t bytes) noexcept {
  if (bytes <= 1024) return class_for[(bytes + 15) / 16];
  std::uint32_t size_class = class_for[64];
  while (small_sizes[size_class] < bytes) ++size_class;
  return size_class;
}

std::uintptr_t extend(part& from, std::size_t bytes) noexcept {
  const std::uintptr_t begin = from.end;
  if (bytes > from.limit - begin) return 0;
  from.end += bytes;
  return begin;
}

std::uintptr_t allocate_small(std::uint32_t size_class, bool library) noexcept {
  lists& from = lists_for(library);
  if (free_block* const block = from.free[size_class]; block != nullptr) {
    from.free[size_class] = block->next;
    return reinterpret_cast<std::uintptr_t>(block);
  }
  const std::size_t bytes = small_sizes[size_class];
  if (from.next[size_class] + bytes > from.end[size_class]) {
    const std::uintptr_t piece = extend(parts[library], piece_bytes);
    if (piece == 0) return 0;
    class_of[piece_of(piece)] = static_cast<std::uint8_t>(size_class + 1);
    from.next[size_class] = piece;
    from.end[size_class] = piece + piece_bytes;
  }
  const std::uintptr_t block = from.next[size_class];
  from.next[size_class] += bytes;
  return block;
}

// Sizes of large blocks are rounded up to eighths of a power of two, in whole pieces.
std::size_t round_large(std::size_t bytes) noexcept {
  const std::size_t step = std::bit_floor(bytes) / 8;
  const std::size_t unit = step > piece_bytes ? step : piece_bytes;
  return (bytes + unit - 1) / unit * unit;
}

std::uint32_t shelf_of(std::size_t rounded) noexcept {
  const std::size_t piece_count = rounded / piece_bytes;
  if (piece_count < 16) return static_cast<std::uint32_t>(piece_count);
  const int shift = std::bit_width(piece_count) - 4;
  return static_cast<std::uint32_t>(shift * 8 + (piece_count >> shift));
}

std::uint64_t& bytes_of_large(std::uintptr_t block) noexcept {
  // The table of who allocated has room for a block's size in its second and third entry.
  return *reinterpret_cast<std::uint64_t*>(&allocated_by[(block - arena_address) / 16 + 2]);
}

std::uintptr_t allocate_large(std::size_t bytes, bool library) noexcept {
  part& from = parts[library];
  const std::size_t rounded = round_large(bytes);
  const std::uint32_t shelf = shelf_of(rounded);
  if (free_block* const block = from.large[shelf]; block != nullptr) {
    from.large[shelf] = block->next;
    return reinterpret_cast<std::uintptr_t>(block);
  }
  const std::uintptr_t block = extend(from, rounded);
  if (block == 0) return 0;
  bytes_of_large(block) = rounded;
  class_of[piece_of(block)] = large_class;
  for (std::size_t i = 1; i < rounded / piece_bytes; ++i)
    class_of[piece_of(block) + i] = inside_large;
  return block;
}

void free_now(void* block) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  auto* const freed = static_cast<free_block*>(block);
  const std::uint8_t size_class = class_of[piece_of(address)];
  if (size_class == large_class) {
    free_block*& shelf = parts[is_library(address)].large[shelf_of(bytes_of_large(address))];
    freed->next = shelf;
    shelf = freed;
  } else if (size_class != 0 && size_class != inside_large) {
    free_block*& list = lists_for(is_library(address)).free[size_class - 1];
    freed->next = list;
    list = freed;
  } else {
    fail("free of what malloc did not return");
  }
}

bool in_arena(std::uintptr_t address) noexcept { return address - arena_address < arena_bytes; }

}  // namespace

std::uintptr_t end() noexcept { return parts[0].end; }

void* allocate(std::size_t bytes, std::size_t alignment, std::uintptr_t code) noexcept {
  if (every == nullptr) open();
  if (alignment > 16) {
    // A size whose blocks are all aligned: a multiple of 64, or a power of two.
    bytes = (bytes + alignment - 1) & -alignment;
    if (alignment > 64) bytes = std::bit_ceil(bytes);
    if (alignment > piece_bytes) return nullptr;
  }
  const bool library = code >> 32 != 0;  // the program's own code lies below 4 GiB
  std::uintptr_t block = 0;
  if (bytes <= small_sizes[small_classes - 1]) {
    std::uint32_t size_class = small_class(bytes);
    while (alignment > 16 && small_sizes[size_class] % alignment != 0) ++size_class;
    block = allocate_small(size_class, library);
  } else if (bytes <= arena_bytes) {
    block = allocate_large(bytes, library);
  }
  if (block == 0) return nullptr;
  allocated_by[(block - arena_address) / 16] = static_cast<std::uint32_t>(code);
  auto* const result = reinterpret_cast<void*>(block);
  if (cpu* const me = the.running; me != nullptr) {
    clock_of(*me) += allocate_cost;
    ++me->meter.allocations;
    if (me->tx.depth != 0) me->tx.allocated.push(result);
  }
  return result;
}

void free(void* block) noexcept {
  if (!in_arena(reinterpret_cast<std::uintptr_t>(block))) return;  // the C library's before us
  if (cpu* const me = the.running; me != nullptr) {
    clock_of(*me) += free_cost;
    if (me->tx.depth != 0) {
      me->tx.freed.push(block);
      return;
    }
  }
  free_now(block);
}

std::size_t usable_bytes(const void* block) noexcept {
  heap::block found{};
  return find(reinterpret_cast<std::uintptr_t>(block), found) ? found.bytes : 0;
}

void commit(transaction& done) noexcept {
  for (void* const block : done.freed) free_now(block);
  done.freed.clear();
  done.allocated.clear();
}

void roll_back(transaction& aborted) noexcept {
  for (std::size_t i = aborted.allocated.size(); i-- > 0;) free_now(aborted.allocated[i]);
  aborted.freed.clear();
  aborted.allocated.clear();
}

bool find(std::uintptr_t address, block& found) noexcept {
  if (!in_arena(address) || address >= parts[is_library(address)].end) return false;
  std::size_t piece = piece_of(address);
  const std::uint8_t size_class = class_of[piece];
  if (size_class == large_class || size_class == inside_large) {
    while (class_of[piece] == inside_large) --piece;
    found.begin = arena_address + piece * piece_bytes;
    found.bytes = bytes_of_large(found.begin);
  } else {
    const std::uintptr_t first = arena_address + piece * piece_bytes;
    found.bytes = small_sizes[size_class - 1];
    found.begin = first + (address - first) / found.bytes * found.bytes;
  }
  found.code = allocated_by[(found.begin - arena_address) / 16];
  return true;
}

}  // namespace unlatch::lab::heap
