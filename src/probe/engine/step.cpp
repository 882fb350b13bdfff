// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/step.hpp"

#include <asm/prctl.h>

#include "src/probe/engine/accesses.hpp"
#include "src/probe/engine/program_memory.hpp"
#include "src/probe/engine/system_calls.hpp"
#include "src/probe/engine/vector_state.hpp"

namespace unlatch::probe::engine {
namespace {

registers& program = unlatch_context.program;

std::uint64_t base_of(memory_operand::segment_base segment) noexcept {
  if (segment == memory_operand::zero) return 0;
  std::uint64_t base = 0;
  system_call(SYS_arch_prctl, long{segment == memory_operand::fs ? ARCH_GET_FS : ARCH_GET_GS},
              &base);
  return base;
}

/// The FS base is the thread's own control block, whose first word points to itself.
std::uint64_t base_of_threads() noexcept {
  std::uint64_t base;
  asm("mov %%fs:0, %0" : "=r"(base));
  return base;
}

std::uint64_t address_without_index(const memory_operand& of) noexcept {
  std::uint64_t address = static_cast<std::uint64_t>(of.displacement);
  if (of.base != memory_operand::none) address += program.general[of.base];
  return address;
}

std::uint64_t with_segment(const memory_operand& of, std::uint64_t address) noexcept {
  if (of.narrow) address = static_cast<std::uint32_t>(address);
  if (of.segment == memory_operand::zero) return address;
  return address + (of.segment == memory_operand::fs ? base_of_threads() : base_of(of.segment));
}

std::uint64_t address_of(const memory_operand& of) noexcept {
  std::uint64_t address = address_without_index(of);
  if (of.index != memory_operand::none) address += program.general[of.index] * of.scale;
  return with_segment(of, address);
}

/// BT and its kin with the bit's number in a register: that number is signed, counts from the
/// operand's address, and leads to the word of the operand's size that holds the bit.
std::uint64_t bit_word(const memory_operand& of) noexcept {
  std::int64_t bit = static_cast<std::int64_t>(program.general[of.bit_index]);
  if (of.bytes == 4) bit = static_cast<std::int32_t>(bit);
  if (of.bytes == 2) bit = static_cast<std::int16_t>(bit);
  const std::int64_t bits = 8 * of.bytes;
  const std::int64_t word = (bit - (bit % bits + bits) % bits) / bits;
  return address_of(of) + static_cast<std::uint64_t>(word * of.bytes);
}

bool note_gathered(const memory_operand& of) noexcept {
  static vector_state now;
  now.save();
  alignas(8) std::uint8_t indices[64] = {};
  now.copy_vector(of.index, of.count * of.index_bytes, indices);
  for (unsigned i = 0; i < of.count; ++i) {
    const std::int64_t index = of.index_bytes == 8
                                   ? reinterpret_cast<const std::int64_t*>(indices)[i]
                                   : reinterpret_cast<const std::int32_t*>(indices)[i];
    const std::uint64_t address =
        with_segment(of, address_without_index(of) + static_cast<std::uint64_t>(index) * of.scale);
    if (!note_access(address, of.bytes, false)) return false;
  }
  return true;
}

bool note_repeated(const memory_operand& of) noexcept {
  std::uint64_t count = program.general[rcx];
  if (of.narrow) count = static_cast<std::uint32_t>(count);
  // So many never fit; the product must not overflow.
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  if (count > most) return false;
  const std::uint64_t bytes = count * of.bytes;
  std::uint64_t address = address_of(of);
  if (program.flags & flag::direction) address += of.bytes - bytes;
  return note_access(address, bytes, of.written);
}

bool note_operand(const memory_operand& of) noexcept {
  switch (of.kind) {
    case memory_operand::shape::plain:
      return note_access(address_of(of), of.bytes, of.written);
    case memory_operand::shape::push:
      return note_access(address_of(of) - of.bytes, of.bytes, of.written);
    case memory_operand::shape::repeated:
      return note_repeated(of);
    case memory_operand::shape::bit_string:
      return note_access(bit_word(of), of.bytes, of.written);
    case memory_operand::shape::gathered:
      return note_gathered(of);
  }
  return false;
}

bool note_operands(const instruction& next) noexcept {
  for (unsigned i = 0; i < next.operand_count; ++i) {
    if (!note_operand(next.operands[i])) return false;
  }
  return true;
}

/// Whether the condition of a conditional jump holds, by the low half of its opcode (Intel 64
/// Software Developer's Manual, volume 1, appendix B).
bool holds(std::uint8_t condition) noexcept {
  const auto set = [](std::uint64_t bit) { return (program.flags & bit) != 0; };
  bool truth = false;
  switch (condition >> 1) {
    case 0:
      truth = set(flag::overflow);
      break;
    case 1:
      truth = set(flag::carry);
      break;
    case 2:
      truth = set(flag::zero);
      break;
    case 3:
      truth = set(flag::carry) || set(flag::zero);
      break;
    case 4:
      truth = set(flag::sign);
      break;
    case 5:
      truth = set(flag::parity);
      break;
    case 6:
      truth = set(flag::sign) != set(flag::overflow);
      break;
    default:
      truth = set(flag::zero) || set(flag::sign) != set(flag::overflow);
  }
  return truth != ((condition & 1) != 0);
}

std::uint64_t count_of(const instruction& next) noexcept {
  const std::uint64_t count = program.general[rcx];
  return next.narrow_count ? static_cast<std::uint32_t>(count) : count;
}

void count_down(const instruction& next) noexcept {
  std::uint64_t& count = program.general[rcx];
  count = next.narrow_count ? static_cast<std::uint32_t>(count - 1) : count - 1;
}

bool loops_on(const instruction& next) noexcept {
  count_down(next);
  if (count_of(next) == 0) return false;
  constexpr std::uint8_t while_unequal = 0xe0, while_equal = 0xe1;
  const bool equal = program.flags & flag::zero;
  if (next.loop_kind == while_unequal) return !equal;
  return next.loop_kind != while_equal || equal;
}

void run_slot(const instruction& next) noexcept {
  unlatch_context.slot = reinterpret_cast<std::uint64_t>(next.slot);
  unlatch_run_slot();
}

/// Element by element, because how many it looks at shows only as it runs.
step_result compare_strings(const instruction& next) noexcept {
  while (count_of(next) != 0) {
    if (!note_operands(next)) return step_result::does_not_fit;
    run_slot(next);
    count_down(next);
    if (((program.flags & flag::zero) != 0) != next.repeat_while_equal) break;
  }
  return step_result::done;
}

std::uint64_t operand_value(const instruction& next) noexcept {
  return next.operand != memory_operand::none ? program.general[next.operand]
                                              : load_word(address_of(next.operands[0]));
}

void call(const instruction& next, std::uint64_t target) noexcept {
  store_word(program.general[rsp] - 8, next.address + next.length);
  program.general[rsp] -= 8;
  program.ip = target;
}

}  // namespace

step_result step(const instruction& next) noexcept {
  const std::uint64_t after = next.address + next.length;
  if (next.how == way::compare_string) {
    const auto result = compare_strings(next);
    program.ip = after;
    return result;
  }
  if (!note_operands(next)) return step_result::does_not_fit;
  switch (next.how) {
    case way::jump:
      program.ip = next.target;
      break;
    case way::jump_if:
      program.ip = holds(next.condition) ? next.target : after;
      break;
    case way::jump_if_no_count:
      program.ip = count_of(next) == 0 ? next.target : after;
      break;
    case way::loop:
      program.ip = loops_on(next) ? next.target : after;
      break;
    case way::jump_to_operand:
      program.ip = operand_value(next);
      break;
    case way::call:
      call(next, next.target);
      break;
    case way::call_operand:
      call(next, operand_value(next));
      break;
    case way::ret:
      program.ip = load_word(program.general[rsp]);
      program.general[rsp] += 8 + next.ret_pops;
      break;
    default:
      run_slot(next);
      program.ip = after;
      // SYSCALL leaves the address behind it in RCX; that was the slot's.
      if (next.is_system_call()) program.general[rcx] = after;
  }
  return step_result::done;
}

}  // namespace unlatch::probe::engine
