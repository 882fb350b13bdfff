// SPDX-License-Identifier: Apache-2.0
//
// Throughput by the target, latency by a table, recurrences of loops by the longest path.

#include "block_cost.hpp"

#include <llvm/Analysis/LoopIterator.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

namespace unlatch::instrument {

using namespace llvm;

namespace {

/// An out-of-order core's width.
constexpr unsigned slots_per_cycle = 4;
/// A call and its return, beside what the callee does.
constexpr unsigned call_slots = 8;
/// An L1 hit, from address to value.
constexpr unsigned load_latency = 4;

bool is_free(const Instruction& instruction) {
  return isa<DbgInfoIntrinsic>(instruction) || isa<PHINode>(instruction);
}

/// Not the pass's to charge: it says how long the function called takes, or nobody does.
bool is_plain_call(const Instruction& instruction) {
  const auto* const call = dyn_cast<CallBase>(&instruction);
  return call != nullptr && !isa<IntrinsicInst>(call) && !call->isInlineAsm();
}

bool is_division(unsigned opcode) {
  return opcode == Instruction::UDiv || opcode == Instruction::SDiv ||
         opcode == Instruction::URem || opcode == Instruction::SRem;
}

unsigned division_latency(const Instruction& instruction) {
  // A division by a constant becomes a multiplication, a shift and an addition.
  if (isa<Constant>(instruction.getOperand(1))) return 5;
  return instruction.getType()->getScalarSizeInBits() > 32 ? 40 : 26;
}

/// Instructions in the text of inline assembly.
unsigned assembly_length(const InlineAsm& assembly) {
  const StringRef text = assembly.getAsmString();
  return text.trim().empty() ? 0 : text.count('\n') + text.count(';') + 1;
}

unsigned valid(InstructionCost cost) {
  // The target gives -1 for what never executes.
  return cost.isValid() && *cost.getValue() > 0 ? static_cast<unsigned>(*cost.getValue()) : 0;
}

}  // namespace

bool block_costs::is_charged(const Instruction& instruction) const {
  const Value* const address = getLoadStorePointerOperand(&instruction);
  return address != nullptr && !local_.contains(address);
}

unsigned block_costs::slots(const Instruction& instruction) const {
  if (is_free(instruction)) return 0;
  if (isa<LoadInst>(instruction) || isa<StoreInst>(instruction)) return 1;
  if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction)) return 1;
  if (const auto* const call = dyn_cast<CallBase>(&instruction); call && call->isInlineAsm()) {
    return assembly_length(*cast<InlineAsm>(call->getCalledOperand()));
  }
  if (is_plain_call(instruction)) return call_slots;
  if (is_division(instruction.getOpcode()) && !instruction.getType()->isVectorTy()) {
    return division_latency(instruction) * slots_per_cycle / 2;
  }
  return valid(target_.getInstructionCost(&instruction, TargetTransformInfo::TCK_RecipThroughput));
}

unsigned block_costs::latency(const Instruction& instruction) const {
  const Type* const type = instruction.getType();
  switch (instruction.getOpcode()) {
    case Instruction::Load:
      return load_latency;
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::And:
    case Instruction::Or:
    case Instruction::Xor:
    case Instruction::Shl:
    case Instruction::LShr:
    case Instruction::AShr:
    case Instruction::ICmp:
      return 1;
    case Instruction::Select:
      return 2;
    case Instruction::Mul:
      return type->isVectorTy() ? 10 : 3;
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FCmp:
      return 3;
    case Instruction::FMul:
      return 5;
    case Instruction::FDiv:
      return 15;
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
      return division_latency(instruction);
    case Instruction::SIToFP:
    case Instruction::UIToFP:
    case Instruction::FPToSI:
    case Instruction::FPToUI:
      return 5;
    case Instruction::BitCast:
    case Instruction::Trunc:
    case Instruction::ZExt:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
    case Instruction::Freeze:
      return 0;
    case Instruction::GetElementPtr:
      return cast<GetElementPtrInst>(instruction).hasAllConstantIndices() ? 0 : 1;
    default:
      break;
  }
  if (const auto* const call = dyn_cast<CallBase>(&instruction)) {
    const Function* const callee = call->getCalledFunction();
    if (callee == nullptr || !callee->isIntrinsic()) return 0;
    switch (callee->getIntrinsicID()) {
      case Intrinsic::fma:
      case Intrinsic::fmuladd:
        return fused_ ? 5 : 8;
      case Intrinsic::sqrt:
        return 18;
      case Intrinsic::fshl:
      case Intrinsic::fshr:
      case Intrinsic::bswap:
        return 1;
      case Intrinsic::ctpop:
      case Intrinsic::ctlz:
      case Intrinsic::cttz:
        return 3;
      default:
        break;
    }
  }
  return valid(target_.getInstructionCost(&instruction, TargetTransformInfo::TCK_Latency));
}

unsigned block_costs::carried_latency(const Loop& loop, ArrayRef<BasicBlock*> order) const {
  unsigned longest = 0;
  const BasicBlock* const latch = loop.getLoopLatch();
  for (const PHINode& carried : loop.getHeader()->phis()) {
    DenseMap<const Value*, unsigned> reached;
    reached[&carried] = 0;
    for (const BasicBlock* const block : order) {
      for (const Instruction& instruction : *block) {
        if (&instruction == &carried || isa<DbgInfoIntrinsic>(instruction)) continue;
        // Another value of the header's is this one's only by way of the turn before.
        if (block == loop.getHeader() && isa<PHINode>(instruction)) continue;
        bool depends = false;
        unsigned longest_operand = 0;
        for (const Use& operand : instruction.operands()) {
          const auto found = reached.find(operand.get());
          if (found == reached.end()) continue;
          depends = true;
          longest_operand = std::max(longest_operand, found->second);
        }
        if (!depends) continue;
        reached[&instruction] =
            longest_operand + (isa<PHINode>(instruction) ? 0 : latency(instruction));
      }
    }
    const auto next = reached.find(carried.getIncomingValueForBlock(latch));
    if (next != reached.end()) longest = std::max(longest, next->second);
  }
  return longest;
}

void block_costs::charge_carried(const Loop& loop, const LoopInfo& loops,
                                 const DominatorTree& dominators) {
  const BasicBlock* const latch = loop.getLoopLatch();
  if (latch == nullptr || loop.getNumBlocks() > 64) return;
  LoopBlocksRPO order(const_cast<Loop*>(&loop));
  order.perform(&loops);
  const SmallVector<BasicBlock*, 16> blocks(order.begin(), order.end());
  unsigned every_turn = 0;
  for (const BasicBlock* const block : blocks) {
    if (dominators.dominates(block, latch)) every_turn += with_accesses_.lookup(block);
  }
  const unsigned carried = carried_latency(loop, blocks);
  if (carried > every_turn) cycles_[loop.getHeader()] += carried - every_turn;
}

block_costs::block_costs(Function& function, local_memory& local, const TargetTransformInfo& target,
                         const LoopInfo& loops, const DominatorTree& dominators)
    : local_(local),
      target_(target),
      fused_(function.getFnAttribute("target-features").getValueAsString().contains("+fma")) {
  for (const BasicBlock& block : function) {
    unsigned sum = 0;
    unsigned charged = 0;
    for (const Instruction& instruction : block) {
      sum += slots(instruction);
      charged += is_charged(instruction) ? 1 : 0;
    }
    const unsigned beyond = sum - std::min(sum, charged * slots_per_cycle);
    unsigned cycles = (beyond + slots_per_cycle / 2) / slots_per_cycle;
    if (charged == 0 && sum > 0) cycles = std::max(cycles, 1u);
    cycles_[&block] = cycles;
    with_accesses_[&block] = cycles + charged;
  }
  for (const Loop* const loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost()) charge_carried(*loop, loops, dominators);
  }
}

}  // namespace unlatch::instrument
