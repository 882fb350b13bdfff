// SPDX-License-Identifier: Apache-2.0
//
// Inline assembly: a memory operand says what is accessed; the text says whether an instruction is
// among those that mean something to the machine; the rest cannot be seen.

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InlineAsm.h>

#include <algorithm>
#include <cctype>

#include "context.hpp"

namespace unlatch::instrument {

using namespace llvm;

namespace {

bool clobbers_memory(const InlineAsm::ConstraintInfo& constraint) {
  return constraint.Type == InlineAsm::isClobber && !constraint.Codes.empty() &&
         constraint.Codes.front() == "{memory}";
}

/// Whether one of the instructions in `text` is `name`.
bool mentions(StringRef text, StringRef name) {
  SmallVector<StringRef, 8> words;
  text.split(words, ' ');
  for (const StringRef word : words) {
    if (word == name) return true;
  }
  return false;
}

bool meaningful(StringRef text, context& in) {
  std::string words = text.lower();
  std::replace_if(
      words.begin(), words.end(),
      [](char c) { return c != '_' && !std::isalnum(static_cast<unsigned char>(c)); }, ' ');
  if (mentions(words, "pause")) {
    in.emit.instruction(lab::instruction::pause);
  } else if (mentions(words, "cpuid")) {
    in.emit.instruction(lab::instruction::cpuid);
  } else if (mentions(words, "syscall")) {
    in.emit.instruction(lab::instruction::system_call);
  } else if (mentions(words, "mfence")) {
    in.emit.fence(AtomicOrdering::SequentiallyConsistent);
  } else if (mentions(words, "xbegin") || mentions(words, "xend") || mentions(words, "xabort")) {
    in.emit.instruction(lab::instruction::unfriendly);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void instrument_assembly(CallBase& call, context& in) {
  auto* const assembly = cast<InlineAsm>(call.getCalledOperand());
  const StringRef text = assembly->getAsmString();
  bool any_memory = false;
  bool operand_seen = false;
  // "+m" is an output and an input with the same address: the output's hook tells of both.
  SmallPtrSet<Value*, 4> told;
  unsigned argument = 0;
  for (const InlineAsm::ConstraintInfo& constraint : assembly->ParseConstraints()) {
    any_memory |= clobbers_memory(constraint);
    if (constraint.Type != InlineAsm::isInput && !constraint.isIndirect) continue;
    if (constraint.isIndirect) {
      Type* const type = call.getParamElementType(argument);
      Value* const address = call.getArgOperand(argument);
      if (type != nullptr) {
        operand_seen = true;
        const auto operation = constraint.Type == InlineAsm::isOutput
                                   ? lab::atomic_operation::exchange
                                   : lab::atomic_operation::load;
        if (!text.empty() && !in.local.contains(address) && told.insert(address).second) {
          in.emit.atomic(address, in.size(type), operation, AtomicOrdering::SequentiallyConsistent);
        }
      }
    }
    ++argument;
  }
  if (text.empty() || meaningful(text, in)) return;
  if (any_memory && !operand_seen) {
    in.warnings.report(call, "what inline assembly accesses by address: " + text);
  }
}

}  // namespace unlatch::instrument
