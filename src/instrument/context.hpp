// SPDX-License-Identifier: Apache-2.0
//
// The parts of the pass: each takes one kind of instruction, emits its hooks before it, and says
// whether the instruction was of its kind.
#pragma once

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/IntrinsicInst.h>

#include "emitter.hpp"
#include "local_memory.hpp"
#include "unseen.hpp"

namespace unlatch::instrument {

/// What the parts share while they go over one function.
struct context {
  emitter& emit;
  local_memory& local;
  unseen& warnings;
  const llvm::DataLayout& layout;
  const llvm::TargetLibraryInfo& library;
  /// Instructions that their hook replaces; they are erased after the function.
  llvm::SmallVector<llvm::Instruction*, 4> replaced;

  std::uint64_t size(llvm::Type* type) const {
    return layout.getTypeStoreSize(type).getKnownMinValue();
  }
};

/// Loads, stores, atomics and fences.
bool instrument_access(llvm::Instruction& instruction, context& in);
/// memcpy and its kin, masked and scattered vectors, varargs, and the target's own intrinsics.
void instrument_intrinsic(llvm::IntrinsicInst& call, context& in);
/// Calls of C library functions that access memory by their arguments; they are precompiled.
bool instrument_library_call(llvm::CallBase& call, context& in);
/// Inline assembly: its memory operands, and the instructions that mean something to the machine.
void instrument_assembly(llvm::CallBase& call, context& in);

/// Links the fast path's bitcode into the module and inlines it into the calls of its hooks.
void link_fast_path(llvm::Module& module, llvm::StringRef bitcode,
                    llvm::ModuleAnalysisManager& analyses);

}  // namespace unlatch::instrument
