// SPDX-License-Identifier: Apache-2.0
#include "src/probe/engine/instruction.hpp"

#include <Zydis/Zydis.h>

namespace unlatch::probe::engine {
namespace {

ZydisDecoder decoder;

struct decoded {
  ZydisDecodedInstruction of;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

std::uint8_t gpr_number(ZydisRegister name) noexcept {
  if (name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15) return name - ZYDIS_REGISTER_RAX;
  if (name >= ZYDIS_REGISTER_EAX && name <= ZYDIS_REGISTER_R15D) return name - ZYDIS_REGISTER_EAX;
  if (name >= ZYDIS_REGISTER_AX && name <= ZYDIS_REGISTER_R15W) return name - ZYDIS_REGISTER_AX;
  return memory_operand::none;
}

bool is_x87_or_mmx(const ZydisDecodedInstruction& of) noexcept {
  return of.meta.isa_set == ZYDIS_ISA_SET_X87 || of.meta.isa_ext == ZYDIS_ISA_EXT_X87 ||
         of.meta.isa_ext == ZYDIS_ISA_EXT_MMX;
}

bool is_unfriendly(const ZydisDecodedInstruction& of) noexcept {
  switch (of.meta.category) {
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_SERIALIZE:
    case ZYDIS_CATEGORY_ENQCMD:
    case ZYDIS_CATEGORY_CLFLUSHOPT:
    case ZYDIS_CATEGORY_CLWB:
    case ZYDIS_CATEGORY_CLDEMOTE:
    case ZYDIS_CATEGORY_WAITPKG:
    case ZYDIS_CATEGORY_XSAVE:
    case ZYDIS_CATEGORY_XSAVEOPT:
    case ZYDIS_CATEGORY_TSX_LDTRK:
    case ZYDIS_CATEGORY_AMX_TILE:
    case ZYDIS_CATEGORY_PT:
    case ZYDIS_CATEGORY_PCONFIG:
      // These two stand with the system's instructions but only read a register.
      return of.mnemonic != ZYDIS_MNEMONIC_XGETBV && of.mnemonic != ZYDIS_MNEMONIC_RDTSC &&
             of.mnemonic != ZYDIS_MNEMONIC_RDTSCP && of.mnemonic != ZYDIS_MNEMONIC_RDPMC;
    default:
      break;
  }
  switch (of.mnemonic) {
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_POPF:
    case ZYDIS_MNEMONIC_POPFD:
    case ZYDIS_MNEMONIC_POPFQ:
    case ZYDIS_MNEMONIC_CLI:
    case ZYDIS_MNEMONIC_STI:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
    case ZYDIS_MNEMONIC_FXSAVE:
    case ZYDIS_MNEMONIC_FXSAVE64:
    case ZYDIS_MNEMONIC_FXRSTOR:
    case ZYDIS_MNEMONIC_FXRSTOR64:
    case ZYDIS_MNEMONIC_VZEROUPPER:
    case ZYDIS_MNEMONIC_MONITORX:
    case ZYDIS_MNEMONIC_MWAITX:
    case ZYDIS_MNEMONIC_MOVDIR64B:
    // Memory instructions with a hint that they are not temporal.
    case ZYDIS_MNEMONIC_MOVNTDQA:
    case ZYDIS_MNEMONIC_VMOVNTDQA:
    case ZYDIS_MNEMONIC_MOVNTDQ:
    case ZYDIS_MNEMONIC_VMOVNTDQ:
    case ZYDIS_MNEMONIC_MOVNTI:
    case ZYDIS_MNEMONIC_MOVNTPD:
    case ZYDIS_MNEMONIC_VMOVNTPD:
    case ZYDIS_MNEMONIC_MOVNTPS:
    case ZYDIS_MNEMONIC_VMOVNTPS:
    case ZYDIS_MNEMONIC_MOVNTQ:
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
      return true;
    default:
      return is_x87_or_mmx(of) || of.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
  }
}

/// Whether an unfriendly instruction is done by a program, and leads to the one behind it.
bool goes_on_behind(const ZydisDecodedInstruction& of) noexcept {
  switch (of.meta.category) {
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
    case ZYDIS_CATEGORY_IO:
    case ZYDIS_CATEGORY_IOSTRINGOP:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_SEGOP:
    case ZYDIS_CATEGORY_VTX:
    case ZYDIS_CATEGORY_SGX:
    case ZYDIS_CATEGORY_UINTR:
    case ZYDIS_CATEGORY_TSX_LDTRK:
    case ZYDIS_CATEGORY_AMX_TILE:
    case ZYDIS_CATEGORY_PCONFIG:
      return false;
    case ZYDIS_CATEGORY_SYSCALL:
      return of.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
    default:
      break;
  }
  const bool stops = of.mnemonic == ZYDIS_MNEMONIC_UD0 || of.mnemonic == ZYDIS_MNEMONIC_UD1 ||
                     of.mnemonic == ZYDIS_MNEMONIC_UD2 || of.mnemonic == ZYDIS_MNEMONIC_HLT ||
                     of.mnemonic == ZYDIS_MNEMONIC_CLI || of.mnemonic == ZYDIS_MNEMONIC_STI;
  return !stops && of.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE;
}

/// Both prefixes repeat MOVS, STOS and LODS, whatever the assembler calls them.
bool is_repeated(const ZydisDecodedInstruction& of) noexcept {
  if (of.meta.category != ZYDIS_CATEGORY_STRINGOP) return false;
  for (unsigned i = 0; i < of.raw.prefix_count; ++i) {
    if (of.raw.prefixes[i].value == 0xf2 || of.raw.prefixes[i].value == 0xf3) return true;
  }
  return false;
}

bool is_bit_string(ZydisMnemonic name) noexcept {
  return name == ZYDIS_MNEMONIC_BT || name == ZYDIS_MNEMONIC_BTS || name == ZYDIS_MNEMONIC_BTR ||
         name == ZYDIS_MNEMONIC_BTC;
}

/// What a gather reads: as many elements as both its result and its indices have room for. A lane
/// that is masked off counts as read: the mask is not looked at.
bool describe_gather(const decoded& in, const ZydisDecodedOperandMem& from,
                     memory_operand& into) noexcept {
  unsigned index_register_bytes;
  if (from.index >= ZYDIS_REGISTER_ZMM0 && from.index <= ZYDIS_REGISTER_ZMM31) {
    into.index = from.index - ZYDIS_REGISTER_ZMM0;
    index_register_bytes = 64;
  } else if (from.index >= ZYDIS_REGISTER_YMM0 && from.index <= ZYDIS_REGISTER_YMM31) {
    into.index = from.index - ZYDIS_REGISTER_YMM0;
    index_register_bytes = 32;
  } else {
    into.index = from.index - ZYDIS_REGISTER_XMM0;
    index_register_bytes = 16;
  }
  bool by_quadword = false;
  bool quadwords = false;
  switch (in.of.mnemonic) {
    case ZYDIS_MNEMONIC_VPGATHERQQ:
    case ZYDIS_MNEMONIC_VGATHERQPD:
      by_quadword = quadwords = true;
      break;
    case ZYDIS_MNEMONIC_VPGATHERQD:
    case ZYDIS_MNEMONIC_VGATHERQPS:
      by_quadword = true;
      break;
    case ZYDIS_MNEMONIC_VPGATHERDQ:
    case ZYDIS_MNEMONIC_VGATHERDPD:
      quadwords = true;
      break;
    case ZYDIS_MNEMONIC_VPGATHERDD:
    case ZYDIS_MNEMONIC_VGATHERDPS:
      break;
    default:
      return false;  // scatters and gather prefetches
  }
  into.kind = memory_operand::shape::gathered;
  into.index_bytes = by_quadword ? 8 : 4;
  into.bytes = quadwords ? 8 : 4;
  const unsigned room = in.operands[0].size / 8 / into.bytes;
  const unsigned indices = index_register_bytes / into.index_bytes;
  into.count = room < indices ? room : indices;
  return true;
}

/// False if the engine could not say which memory the operand is.
bool describe_memory(const decoded& in, const ZydisDecodedOperand& from, std::uint64_t next,
                     memory_operand& into) noexcept {
  using shape = memory_operand::shape;
  const auto& mem = from.mem;
  into = {};
  into.written = from.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
  into.bytes = from.size / 8 == 0 ? 1 : from.size / 8;
  into.base = into.index = into.bit_index = memory_operand::none;
  into.scale = mem.scale;
  into.narrow = in.of.address_width == 32;
  into.displacement = mem.disp.has_displacement ? mem.disp.value : 0;
  if (mem.segment == ZYDIS_REGISTER_FS) into.segment = memory_operand::fs;
  if (mem.segment == ZYDIS_REGISTER_GS) into.segment = memory_operand::gs;
  if (mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
    into.base = gpr_number(mem.base);
    return !into.written && describe_gather(in, mem, into);
  }
  if (mem.type != ZYDIS_MEMOP_TYPE_MEM) return false;
  if (mem.base == ZYDIS_REGISTER_RIP || mem.base == ZYDIS_REGISTER_EIP) {
    into.displacement += static_cast<std::int64_t>(next);
  } else if (mem.base != ZYDIS_REGISTER_NONE) {
    into.base = gpr_number(mem.base);
    if (into.base == memory_operand::none) return false;
  }
  if (mem.index != ZYDIS_REGISTER_NONE) {
    into.index = gpr_number(mem.index);
    if (into.index == memory_operand::none) return false;
  }
  const bool implied = from.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  if (implied && into.base == rsp) {
    into.displacement = 0;
    if (in.of.mnemonic == ZYDIS_MNEMONIC_LEAVE) into.base = rbp;
    if (into.written) into.kind = shape::push;
  } else if (in.of.mnemonic == ZYDIS_MNEMONIC_POP && into.base == rsp) {
    into.displacement += in.of.operand_width / 8;  // the address is taken after RSP has moved
  } else if (is_repeated(in.of)) {
    into.kind = shape::repeated;
  } else if (is_bit_string(in.of.mnemonic) && in.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
    into.kind = shape::bit_string;
    into.bit_index = gpr_number(in.operands[1].reg.value);
  }
  return true;
}

bool describe_operands(const decoded& in, instruction& into) noexcept {
  const auto category = in.of.meta.category;
  if (category == ZYDIS_CATEGORY_NOP || category == ZYDIS_CATEGORY_WIDENOP ||
      category == ZYDIS_CATEGORY_PREFETCH || category == ZYDIS_CATEGORY_PREFETCHWT1) {
    return true;
  }
  for (unsigned i = 0; i < in.of.operand_count; ++i) {
    const auto& operand = in.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if (operand.mem.type == ZYDIS_MEMOP_TYPE_AGEN) continue;  // LEA: an address, not an access
    if (operand.actions == 0) continue;
    if (into.operand_count == instruction::most_operands) return false;
    if (!describe_memory(in, operand, into.address + into.length,
                         into.operands[into.operand_count])) {
      return false;
    }
    ++into.operand_count;
  }
  return true;
}

void note_relative_operand(const decoded& in, instruction& into) noexcept {
  for (unsigned i = 0; i < in.of.operand_count_visible; ++i) {
    const auto& operand = in.operands[i];
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.base != ZYDIS_REGISTER_RIP) {
      continue;
    }
    into.displacement_at = in.of.raw.disp.offset;
    into.target = into.address + into.length + static_cast<std::uint64_t>(operand.mem.disp.value);
  }
}

way way_of_branch(const decoded& in, instruction& into) noexcept {
  const auto& operand = in.operands[0];
  const bool relative = operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
  if (relative) {
    into.target = into.address + into.length + static_cast<std::uint64_t>(operand.imm.value.s);
  }
  into.operand = operand.type == ZYDIS_OPERAND_TYPE_REGISTER ? gpr_number(operand.reg.value)
                                                             : memory_operand::none;
  switch (in.of.meta.category) {
    case ZYDIS_CATEGORY_CALL:
      return relative ? way::call : way::call_operand;
    case ZYDIS_CATEGORY_RET:
      into.target = 0;
      into.ret_pops = relative ? static_cast<std::uint16_t>(operand.imm.value.u) : 0;
      return way::ret;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return relative ? way::jump : way::jump_to_operand;
    default:
      break;
  }
  into.narrow_count = in.of.address_width == 32;
  switch (in.of.mnemonic) {
    case ZYDIS_MNEMONIC_JRCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
      return way::jump_if_no_count;
    case ZYDIS_MNEMONIC_LOOP:
    case ZYDIS_MNEMONIC_LOOPE:
    case ZYDIS_MNEMONIC_LOOPNE:
      into.loop_kind = in.of.opcode;
      return way::loop;
    default:
      into.condition = in.of.opcode & 0xf;
      return way::jump_if;
  }
}

void strip_repeat_prefix(instruction& into) noexcept {
  bool prefixes = true;
  for (unsigned i = 0; i < into.length; ++i) {
    const std::uint8_t byte = into.bytes[i];
    if (prefixes && (byte == 0xf2 || byte == 0xf3)) continue;
    if (byte != 0x66 && byte != 0x67) prefixes = false;
    into.without[into.without_length++] = byte;
  }
}

way way_of(const decoded& in, instruction& into) noexcept {
  switch (in.of.mnemonic) {
    case ZYDIS_MNEMONIC_XBEGIN:
      into.target =
          into.address + into.length + static_cast<std::uint64_t>(in.operands[0].imm.value.s);
      return way::begin;
    case ZYDIS_MNEMONIC_XEND:
      return way::end;
    case ZYDIS_MNEMONIC_XTEST:
      return way::test;
    case ZYDIS_MNEMONIC_XABORT:
      into.abort_code = static_cast<std::uint8_t>(in.operands[0].imm.value.u);
      return way::abort;
    case ZYDIS_MNEMONIC_ENTER:
    case ZYDIS_MNEMONIC_XLAT:
      return way::not_stepped;
    default:
      break;
  }
  if (is_unfriendly(in.of)) {
    note_relative_operand(in, into);
    into.is_stepped = goes_on_behind(in.of) && describe_operands(in, into);
    return way::unfriendly;
  }
  switch (in.of.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
      return describe_operands(in, into) ? way_of_branch(in, into) : way::not_stepped;
    default:
      break;
  }
  note_relative_operand(in, into);
  if (!describe_operands(in, into)) return way::not_stepped;
  const bool compares = in.of.attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
  if (!compares) return way::run;
  into.repeat_while_equal = in.of.attributes & ZYDIS_ATTRIB_HAS_REPE;
  into.narrow_count = in.of.address_width == 32;
  for (unsigned i = 0; i < into.operand_count; ++i) {
    into.operands[i].kind = memory_operand::shape::plain;
  }
  strip_repeat_prefix(into);
  return way::compare_string;
}

}  // namespace

void prepare_decoder() noexcept {
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  // Once now, so that the dynamic linker has nothing left to do when other threads are stopped.
  const std::uint8_t move[] = {0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0};
  instruction first;
  static_cast<void>(decode(move, sizeof move, 0, first));
}

bool decode(const std::uint8_t* bytes, unsigned available, std::uint64_t address,
            instruction& into) noexcept {
  decoded in;
  std::uint8_t* const slot = into.slot;
  into = {};
  into.slot = slot;
  into.address = address;
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, available, &in.of, in.operands))) {
    return false;
  }
  into.length = in.of.length;
  for (unsigned i = 0; i < into.length; ++i) into.bytes[i] = bytes[i];
  into.mnemonic = ZydisMnemonicGetString(in.of.mnemonic);
  into.how = way_of(in, into);
  return true;
}

}  // namespace unlatch::probe::engine
