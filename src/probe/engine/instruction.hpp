// SPDX-License-Identifier: Apache-2.0
//
// One decoded instruction: how to step it, and which memory it touches.
//
// Source of what aborts a transaction: Intel 64 Software Developer's Manual, volume 1, section
// 16.3.8.1, "Instruction Based Considerations".
#pragma once

#include <cstdint>

#include "src/probe/engine/context.hpp"

namespace unlatch::probe::engine {

/// How an instruction is stepped.
enum class way : std::uint8_t {
  run,               ///< a copy of it runs in a slot
  compare_string,    ///< REP CMPS or SCAS: one element at a time, a copy without the prefix
  jump,              ///< to `target`
  jump_if,           ///< to `target` under `condition`
  jump_if_no_count,  ///< JRCXZ, JECXZ
  loop,              ///< LOOP, LOOPE, LOOPNE
  jump_to_operand,
  call,
  call_operand,
  ret,
  begin,        ///< XBEGIN; `target` is the abort handler
  end,          ///< XEND
  abort,        ///< XABORT
  test,         ///< XTEST
  unfriendly,   ///< always aborts a transaction
  not_stepped,  ///< the engine cannot step it
};

/// An operand in memory, as far as it is known before the registers are.
struct memory_operand {
  enum class shape : std::uint8_t {
    plain,       ///< `bytes` at the address
    push,        ///< `bytes` below the address
    repeated,    ///< `bytes` for each count in RCX, in the direction of DF
    bit_string,  ///< BT and its kin: `bytes` at the word that holds the bit
    gathered,    ///< `count` elements of `bytes`, the index in a vector register
  };
  static constexpr std::uint8_t none = 0xff;
  enum segment_base : std::uint8_t { zero, fs, gs };

  std::int64_t displacement;
  std::uint16_t bytes;
  shape kind;
  std::uint8_t base;   ///< a gpr, or none
  std::uint8_t index;  ///< a gpr or vector register, or none
  std::uint8_t scale;
  segment_base segment;
  bool narrow;  ///< addresses of 32 bits
  bool written;
  std::uint8_t count;        ///< gathered: elements
  std::uint8_t index_bytes;  ///< gathered: of an index
  std::uint8_t bit_index;    ///< bit_string: the gpr with the bit's number
};

struct instruction {
  static constexpr unsigned most_bytes = 15;
  static constexpr unsigned most_operands = 3;

  std::uint64_t address;
  std::uint64_t target;
  std::uint8_t* slot;  ///< code that does it and then jumps to unlatch_leave_slot
  const char* mnemonic;
  memory_operand operands[most_operands];
  std::uint8_t bytes[most_bytes];
  std::uint8_t length;
  std::uint8_t operand_count;
  way how;
  std::uint8_t condition;   ///< jump_if: the low half of the opcode
  std::uint8_t operand;     ///< jump_to_operand, call_operand: the gpr, or none: operands[0]
  std::uint8_t abort_code;  ///< XABORT's
  std::uint16_t ret_pops;   ///< ret: bytes beyond the return address
  std::uint8_t loop_kind;   ///< loop: the opcode, 0xE0 LOOPNE, 0xE1 LOOPE, 0xE2 LOOP
  bool narrow_count;        ///< counts in ECX
  bool repeat_while_equal;  ///< compare_string: REPE
  bool is_stepped;          ///< unfriendly: a slot does it where no transaction is to abort
  std::uint8_t without[most_bytes];  ///< compare_string: the bytes without the REP prefix
  std::uint8_t without_length;
  std::uint8_t displacement_at;  ///< of an operand relative to RIP: where in the bytes; 0: none

  [[nodiscard]] bool is_system_call() const noexcept {
    return how == way::unfriendly && bytes[0] == 0x0f && bytes[1] == 0x05;
  }
};

/// Prepares the decoder. Before any other function here; once.
void prepare_decoder() noexcept;

/// Decodes the instruction whose first `available` bytes are `bytes`, at `address`. False if they
/// are none. `into.slot` is left alone. Uses vector registers, unlike the rest of the engine: the
/// caller saves the program's.
[[nodiscard]] bool decode(const std::uint8_t* bytes, unsigned available, std::uint64_t address,
                          instruction& into) noexcept;

}  // namespace unlatch::probe::engine
