// SPDX-License-Identifier: Apache-2.0
//
// Where loops turn without an access to memory. An access is where the machine looks at the clock;
// such a loop has none, so it needs another place to be given up at if it never ends.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/BasicBlock.h>

namespace unlatch::instrument {

/// Blocks at whose end a turn ends, each with the cycles that the turn takes beyond what its blocks
/// are charged: one if that is nothing, so that time goes on.
using turn_ends = llvm::MapVector<llvm::BasicBlock*, unsigned>;

/// Every cycle of the function's control flow that stays in `silent` blocks goes through the end of
/// one of the blocks returned. `cost` says what a block is charged.
turn_ends find_silent_turns(const llvm::SmallPtrSetImpl<llvm::BasicBlock*>& silent,
                            llvm::Function& function,
                            llvm::function_ref<unsigned(const llvm::BasicBlock&)> cost);

}  // namespace unlatch::instrument
