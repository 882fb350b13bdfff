// SPDX-License-Identifier: Apache-2.0
//
// How many cycles each basic block of a function takes on an out-of-order core when every access
// hits, beyond the cycle that the hook of each access charges.
//
// A block costs what its instructions take at four a cycle, by the target's own throughputs. Where
// an innermost loop carries a value from one turn to the next, no turn can be faster than the
// latency of that chain; what the blocks of a turn lack to it is charged to the loop's header.
// Latencies are those of Haswell (Agner Fog, "Instruction tables"), since the target's own are
// missing or one number for all.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>

#include "local_memory.hpp"

namespace unlatch::instrument {

class block_costs {
 public:
  block_costs(llvm::Function& function, local_memory& local,
              const llvm::TargetTransformInfo& target, const llvm::LoopInfo& loops,
              const llvm::DominatorTree& dominators);

  /// Cycles, to the nearest, but at least one for a block that has no access and does anything.
  unsigned of(const llvm::BasicBlock& block) const { return cycles_.lookup(&block); }

 private:
  /// Whether a hook charges for this load or store.
  bool is_charged(const llvm::Instruction& instruction) const;
  /// Issue slots: quarters of a cycle.
  unsigned slots(const llvm::Instruction& instruction) const;
  /// Cycles from an operand to the result.
  unsigned latency(const llvm::Instruction& instruction) const;
  /// The longest chain from a value that the loop's header gets from the turn before to the next.
  unsigned carried_latency(const llvm::Loop& loop, llvm::ArrayRef<llvm::BasicBlock*> order) const;
  void charge_carried(const llvm::Loop& loop, const llvm::LoopInfo& loops,
                      const llvm::DominatorTree& dominators);

  local_memory& local_;
  const llvm::TargetTransformInfo& target_;
  const bool fused_;  ///< a multiplication and an addition are one instruction
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> cycles_;
  /// With what the hooks of its accesses charge.
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> with_accesses_;
};

}  // namespace unlatch::instrument
