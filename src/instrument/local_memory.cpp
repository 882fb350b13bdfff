// SPDX-License-Identifier: Apache-2.0
//
// Follows an address to the object that it points into.

#include "local_memory.hpp"

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>

namespace unlatch::instrument {

using namespace llvm;

bool local_memory::contains(const Value* address) {
  const Value* const object = getUnderlyingObject(address, 0);
  if (const auto* const global = dyn_cast<GlobalVariable>(object)) return global->isConstant();
  if (!isa<AllocaInst>(object)) return false;
  const auto found = known_.find(object);
  if (found != known_.end()) return found->second;
  const bool local = !PointerMayBeCaptured(object, /*ReturnCaptures=*/true,
                                           /*StoreCaptures=*/true, /*MaxUsesToExplore=*/0);
  known_[object] = local;
  return local;
}

}  // namespace unlatch::instrument
