// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/slots.hpp"

#include <sys/mman.h>

#include "src/probe/engine/context.hpp"
#include "src/probe/engine/system_calls.hpp"

namespace unlatch::probe::engine {
namespace {

// jmp *0(%rip), then the address: unlatch_leave_slot can be anywhere.
constexpr unsigned leave_bytes = 14;
constexpr unsigned slot_bytes = 32;
static_assert(instruction::most_bytes + leave_bytes <= slot_bytes);

struct arena {
  std::uint64_t base;
  std::uint32_t used;
  bool for_slots;  ///< or for what stays
};
constexpr std::uint32_t arena_bytes = 1u << 20;
constexpr unsigned most_arenas = 64;
arena arenas[most_arenas];
unsigned arena_count;

/// Whether all of an arena at `base` can be reached from around `target`, and the reverse.
bool reaches(std::uint64_t base, std::uint64_t target) noexcept {
  constexpr std::int64_t far = 0x7fff'ffff - 2 * std::int64_t{arena_bytes};
  const auto distance = static_cast<std::int64_t>(base - target);
  return distance < far && distance > -far;
}

std::uint64_t map_at(std::uint64_t wanted) noexcept {
  const long mapped = system_call(
      SYS_mmap, wanted, std::uint64_t{arena_bytes}, long{PROT_READ | PROT_WRITE | PROT_EXEC},
      long{MAP_PRIVATE | MAP_ANONYMOUS | (wanted == 0 ? 0 : MAP_FIXED_NOREPLACE)}, -1L, 0L);
  if (mapped < 0 && mapped > -4096) return 0;
  const auto at = static_cast<std::uint64_t>(mapped);
  if (wanted == 0 || at == wanted) return at;
  system_call(SYS_munmap, at, std::uint64_t{arena_bytes});  // a kernel without NOREPLACE
  return 0;
}

/// Looks for a free place outwards from `target`, in steps of eight arenas.
std::uint64_t map_near(std::uint64_t target) noexcept {
  if (target == 0) return map_at(0);
  const std::uint64_t around = target & ~std::uint64_t{arena_bytes - 1};
  constexpr std::uint64_t stride = 8 * std::uint64_t{arena_bytes};
  for (std::uint64_t distance = 2 * stride; distance < 0x7000'0000; distance += stride) {
    if (around > distance) {
      if (const auto at = map_at(around - distance); at != 0) return at;
    }
    if (const auto at = map_at(around + distance); at != 0) return at;
  }
  return 0;
}

arena* arena_near(std::uint64_t target, unsigned bytes, bool for_slots) noexcept {
  for (unsigned i = 0; i < arena_count; ++i) {
    if (arenas[i].for_slots == for_slots && arenas[i].used + bytes <= arena_bytes &&
        (target == 0 || reaches(arenas[i].base, target))) {
      return &arenas[i];
    }
  }
  if (arena_count == most_arenas) return nullptr;
  const std::uint64_t base = map_near(target);
  if (base == 0) return nullptr;
  arenas[arena_count] = {base, 0, for_slots};
  return &arenas[arena_count++];
}

std::uint8_t* allocate(std::uint64_t target, unsigned bytes, bool for_slots) noexcept {
  arena* const from = arena_near(target, bytes, for_slots);
  if (from == nullptr) return nullptr;
  auto* const at = reinterpret_cast<std::uint8_t*>(from->base + from->used);
  from->used += bytes;
  return at;
}

void put_word(std::uint8_t* at, std::uint64_t value, unsigned bytes) noexcept {
  for (unsigned i = 0; i < bytes; ++i) at[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

}  // namespace

bool write_slot(instruction& what) noexcept {
  const std::uint64_t operand = what.displacement_at == 0 ? 0 : what.target;
  if (what.slot != nullptr && operand != 0 &&
      !reaches(reinterpret_cast<std::uint64_t>(what.slot), operand)) {
    what.slot = nullptr;
  }
  if (what.slot == nullptr) what.slot = allocate(operand, slot_bytes, true);
  if (what.slot == nullptr) return false;

  const bool stripped = what.how == way::compare_string;
  const std::uint8_t* const code = stripped ? what.without : what.bytes;
  const unsigned length = stripped ? what.without_length : what.length;
  for (unsigned i = 0; i < length; ++i) what.slot[i] = code[i];
  std::uint8_t* const end = what.slot + length;
  if (what.displacement_at != 0) {
    put_word(what.slot + what.displacement_at, operand - reinterpret_cast<std::uint64_t>(end), 4);
  }
  end[0] = 0xff;
  end[1] = 0x25;
  put_word(end + 2, 0, 4);
  put_word(end + 6, reinterpret_cast<std::uint64_t>(&unlatch_leave_slot), 8);
  return true;
}

void reuse_slots() noexcept {
  for (unsigned i = 0; i < arena_count; ++i) {
    if (arenas[i].for_slots) arenas[i].used = 0;
  }
}

std::uint8_t* executable_memory_near(std::uint64_t target, unsigned bytes) noexcept {
  return allocate(target, bytes, false);
}

bool in_slot(std::uint64_t ip) noexcept {
  for (unsigned i = 0; i < arena_count; ++i) {
    if (ip - arenas[i].base < arena_bytes) return true;
  }
  return false;
}

}  // namespace unlatch::probe::engine
