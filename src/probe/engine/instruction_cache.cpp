// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/instruction_cache.hpp"

#include "src/probe/engine/program_memory.hpp"
#include "src/probe/engine/slots.hpp"
#include "src/probe/engine/vector_state.hpp"

namespace unlatch::probe::engine {
namespace {

constexpr unsigned ways = 4;
constexpr unsigned sets = 1u << 12;
instruction cache[sets][ways];
std::uint8_t next_victim[sets];
std::uint64_t decoded_count;

unsigned set_of(std::uint64_t address) noexcept {
  return static_cast<unsigned>(address * 0x9e37'79b9'7f4a'7c15u >> 52) & (sets - 1);
}

void forget_all() noexcept {
  for (auto& set : cache) {
    for (instruction& each : set) {
      each.address = 0;
      each.slot = nullptr;
    }
  }
  reuse_slots();
}

/// Reads no further than the instruction: what comes after it may not be there.
bool decode_at(std::uint64_t address, instruction& into) noexcept {
  constexpr std::uint64_t page = 4096;
  std::uint8_t code[instruction::most_bytes];
  unsigned length = instruction::most_bytes;
  const std::uint64_t left = page - address % page;
  if (left < length) length = static_cast<unsigned>(left);
  load_code(address, code, length);
  static vector_state kept;
  kept.save();
  bool decoded = decode(code, length, address, into);
  kept.restore();
  if (decoded || length == instruction::most_bytes) return decoded;
  load_code(address, code, instruction::most_bytes);
  kept.save();
  decoded = decode(code, instruction::most_bytes, address, into);
  kept.restore();
  return decoded;
}

bool give_slot(instruction& to) noexcept {
  const bool needs_one = to.how == way::run || to.how == way::compare_string || to.is_stepped;
  if (!needs_one) return true;
  if (write_slot(to)) return true;
  const instruction kept = to;
  forget_all();
  to = kept;
  to.slot = nullptr;
  return write_slot(to);
}

}  // namespace

const instruction* instruction_at(std::uint64_t address) noexcept {
  const unsigned set = set_of(address);
  instruction* found = nullptr;
  for (instruction& each : cache[set]) {
    if (each.address == address) found = &each;
  }
  if (found != nullptr && same_code(address, found->bytes, found->length)) return found;
  if (found == nullptr) found = &cache[set][next_victim[set]++ % ways];
  ++decoded_count;
  found->address = 0;  // until it is whole: reading the code may fault
  if (!decode_at(address, *found)) {
    found->address = 0;
    return nullptr;
  }
  if (!give_slot(*found)) {
    found->is_stepped = false;
    if (found->how != way::unfriendly) found->how = way::not_stepped;
  }
  return found;
}

std::uint64_t decoded_instructions() noexcept { return decoded_count; }

}  // namespace unlatch::probe::engine
