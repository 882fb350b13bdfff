// SPDX-License-Identifier: Apache-2.0
//
// Hooks for loads, stores, atomic operations and fences.

#include <llvm/IR/Instructions.h>

#include "context.hpp"

namespace unlatch::instrument {

using namespace llvm;
using lab::atomic_operation;

namespace {

/// Whether a plain access needs a hook and can have one.
bool is_seen(Instruction& access, Value* address, context& in) {
  if (address->getType()->getPointerAddressSpace() != 0) {
    in.warnings.report(access, "an access relative to a segment register");
    return false;
  }
  return !in.local.contains(address) && !access.hasMetadata(LLVMContext::MD_invariant_load);
}

void load(LoadInst& load, context& in) {
  Value* const address = load.getPointerOperand();
  if (!is_seen(load, address, in)) return;
  const std::uint64_t bytes = in.size(load.getType());
  if (load.isAtomic()) {
    in.emit.atomic(address, bytes, atomic_operation::load, load.getOrdering());
  } else {
    in.emit.read(address, bytes, load.getAlign());
  }
}

void store(StoreInst& store, context& in) {
  Value* const address = store.getPointerOperand();
  if (!is_seen(store, address, in)) return;
  const std::uint64_t bytes = in.size(store.getValueOperand()->getType());
  if (store.isAtomic()) {
    in.emit.atomic(address, bytes, atomic_operation::store, store.getOrdering());
  } else {
    in.emit.write(address, bytes, store.getAlign());
  }
}

}  // namespace

bool instrument_access(Instruction& instruction, context& in) {
  if (auto* const plain_load = dyn_cast<LoadInst>(&instruction)) {
    load(*plain_load, in);
  } else if (auto* const plain_store = dyn_cast<StoreInst>(&instruction)) {
    store(*plain_store, in);
  } else if (auto* const update = dyn_cast<AtomicRMWInst>(&instruction)) {
    in.emit.atomic(update->getPointerOperand(), in.size(update->getType()),
                   atomic_operation::exchange, update->getOrdering());
  } else if (auto* const compare = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    in.emit.atomic(compare->getPointerOperand(), in.size(compare->getCompareOperand()->getType()),
                   atomic_operation::compare_exchange, compare->getSuccessOrdering());
  } else if (auto* const fence = dyn_cast<FenceInst>(&instruction)) {
    if (fence->getSyncScopeID() != SyncScope::SingleThread) in.emit.fence(fence->getOrdering());
  } else if (auto* const argument = dyn_cast<VAArgInst>(&instruction)) {
    in.warnings.report(*argument, "the argument that va_arg reads");
    in.emit.write_range(argument->getPointerOperand(), in.emit.bytes(std::uint64_t{24}));
  } else {
    return false;
  }
  return true;
}

}  // namespace unlatch::instrument
