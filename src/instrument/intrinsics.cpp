// SPDX-License-Identifier: Apache-2.0
//
// Hooks for intrinsics: calls that become instructions or library calls only after the pass.

#include <llvm/IR/IntrinsicsX86.h>

#include "context.hpp"

namespace unlatch::instrument {

using namespace llvm;

namespace {

/// Bytes of x86-64's va_list.
constexpr std::uint64_t argument_list_bytes = 24;

void copy(Value* to, Value* from, Value* count, context& in) {
  const bool to_local = in.local.contains(to);
  const bool from_local = in.local.contains(from);
  if (to_local && from_local) return;
  if (to_local) {
    in.emit.read_range(from, count);
  } else if (from_local) {
    in.emit.write_range(to, count);
  } else {
    in.emit.copy(to, from, count);
  }
}

/// A vector of bits as the number that hooks take.
Value* mask_bits(Value* mask, context& in) {
  IRBuilder<>& builder = in.emit.builder();
  const unsigned elements = cast<FixedVectorType>(mask->getType())->getNumElements();
  return builder.CreateZExt(builder.CreateBitCast(mask, builder.getIntNTy(elements)),
                            builder.getInt64Ty());
}

void masked(IntrinsicInst& call, bool write, bool packed, context& in) {
  // masked.load(address, alignment, mask, other), masked.store(value, address, alignment, mask),
  // expandload(address, mask, other), compressstore(value, address, mask).
  Value* const address = call.getArgOperand(write ? 1 : 0);
  Value* const mask = call.getArgOperand((write ? 1 : 0) + (packed ? 1 : 2));
  Type* const type = write ? call.getArgOperand(0)->getType() : call.getType();
  const std::uint64_t element = in.size(cast<FixedVectorType>(type)->getElementType());
  Value* const bits = mask_bits(mask, in);
  if (!packed) return in.emit.mask(address, element, bits, write);
  IRBuilder<>& builder = in.emit.builder();
  Value* const count = builder.CreateMul(builder.CreateUnaryIntrinsic(Intrinsic::ctpop, bits),
                                         builder.getInt64(element));
  if (write) {
    in.emit.write_range(address, count);
  } else {
    in.emit.read_range(address, count);
  }
}

void scattered(IntrinsicInst& call, bool write, context& in) {
  // gather(addresses, alignment, mask, other), scatter(value, addresses, alignment, mask).
  Value* const addresses = call.getArgOperand(write ? 1 : 0);
  Value* const mask = call.getArgOperand(write ? 3 : 2);
  Type* const type = write ? call.getArgOperand(0)->getType() : call.getType();
  auto* const vector = cast<FixedVectorType>(type);
  BasicBlock& entry = call.getFunction()->getEntryBlock();
  IRBuilder<> at_entry(&entry, entry.getFirstInsertionPt());
  Value* const spilled = at_entry.CreateAlloca(addresses->getType());
  in.emit.builder().CreateStore(addresses, spilled);
  in.emit.gather(spilled, vector->getNumElements(), in.size(vector->getElementType()),
                 mask_bits(mask, in), write);
}

/// An intrinsic of the target's that takes addresses: what it accesses follows from its types.
void guess(IntrinsicInst& call, context& in) {
  std::uint64_t bytes = call.getType()->isVoidTy() ? 0 : in.size(call.getType());
  bool has_address = false;
  for (const Use& argument : call.args()) {
    if (argument->getType()->isPointerTy()) {
      has_address = true;
    } else if (!isa<Constant>(argument) || argument->getType()->isVectorTy()) {
      bytes = std::max(bytes, in.size(argument->getType()));
    }
  }
  const StringRef name = call.getCalledFunction()->getName();
  if (!has_address) return in.warnings.report(call, "what " + name + " accesses");
  if (bytes == 0) bytes = lab::line_bytes;
  bool joined = false;
  for (const Use& argument : call.args()) {
    if (!argument->getType()->isPointerTy() || in.local.contains(argument)) continue;
    if (call.onlyReadsMemory()) {
      in.emit.read_range(argument, in.emit.bytes(bytes), joined);
    } else {
      in.emit.write_range(argument, in.emit.bytes(bytes), joined);
    }
    joined = true;
  }
}

/// Intrinsics that claim to access memory and do not, or whose memory is the frame's own.
bool is_harmless(Intrinsic::ID which) {
  switch (which) {
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::invariant_start:
    case Intrinsic::invariant_end:
    case Intrinsic::stacksave:
    case Intrinsic::stackrestore:
    case Intrinsic::eh_typeid_for:
    case Intrinsic::eh_dwarf_cfa:
    case Intrinsic::eh_unwind_init:
    case Intrinsic::prefetch:
    case Intrinsic::trap:
    case Intrinsic::ubsantrap:
    case Intrinsic::debugtrap:
    case Intrinsic::returnaddress:
    case Intrinsic::threadlocal_address:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::vaend:
      return true;
    default:
      return false;
  }
}

/// The timestamp counter is the simulated clock. rdtscp also returns the CPU's number: 0.
void timestamp(IntrinsicInst& call, context& in) {
  Value* now = in.emit.timestamp();
  if (auto* const pair = dyn_cast<StructType>(call.getType())) {
    IRBuilder<>& builder = in.emit.builder();
    now = builder.CreateInsertValue(Constant::getNullValue(pair), now, 0);
  }
  call.replaceAllUsesWith(now);
  in.replaced.push_back(&call);
}

}  // namespace

void instrument_intrinsic(IntrinsicInst& call, context& in) {
  const auto argument = [&](unsigned index) { return call.getArgOperand(index); };
  switch (call.getIntrinsicID()) {
    case Intrinsic::memcpy:
    case Intrinsic::memmove:
    case Intrinsic::memcpy_inline:
    case Intrinsic::memcpy_element_unordered_atomic:
    case Intrinsic::memmove_element_unordered_atomic:
      return copy(argument(0), argument(1), in.emit.bytes(argument(2)), in);
    case Intrinsic::memset:
    case Intrinsic::memset_inline:
    case Intrinsic::memset_element_unordered_atomic:
      if (in.local.contains(argument(0))) return;
      return in.emit.write_range(argument(0), in.emit.bytes(argument(2)));
    case Intrinsic::masked_load:
      return masked(call, false, false, in);
    case Intrinsic::masked_store:
      return masked(call, true, false, in);
    case Intrinsic::masked_expandload:
      return masked(call, false, true, in);
    case Intrinsic::masked_compressstore:
      return masked(call, true, true, in);
    case Intrinsic::masked_gather:
      return scattered(call, false, in);
    case Intrinsic::masked_scatter:
      return scattered(call, true, in);
    case Intrinsic::vastart:
      if (in.local.contains(argument(0))) return;
      return in.emit.write_range(argument(0), in.emit.bytes(argument_list_bytes));
    case Intrinsic::vacopy:
      return copy(argument(0), argument(1), in.emit.bytes(argument_list_bytes), in);
    case Intrinsic::x86_sse2_pause:
      in.emit.instruction(lab::instruction::pause);
      in.replaced.push_back(&call);
      return;
    case Intrinsic::x86_rdtsc:
    case Intrinsic::x86_rdtscp:
    case Intrinsic::readcyclecounter:
      return timestamp(call, in);
    case Intrinsic::x86_sse2_mfence:
      return in.emit.fence(AtomicOrdering::SequentiallyConsistent);
    case Intrinsic::x86_sse2_lfence:
      return in.emit.fence(AtomicOrdering::Acquire);
    case Intrinsic::x86_sse_sfence:
      return in.emit.fence(AtomicOrdering::Release);
    default:
      if (call.mayReadOrWriteMemory() && !call.onlyAccessesInaccessibleMemory() &&
          !call.isAssumeLikeIntrinsic() && !is_harmless(call.getIntrinsicID())) {
        guess(call, in);
      }
  }
}

}  // namespace unlatch::instrument
