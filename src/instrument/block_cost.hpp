// SPDX-License-Identifier: Apache-2.0
//
// How many cycles each basic block of a function takes on an out-of-order core when every access
// hits, the accesses' own cost excluded: that, the hooks charge.
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

namespace unlatch::instrument {

class block_costs {
 public:
  block_costs(llvm::Function& function, const llvm::TargetTransformInfo& target,
              const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators);

  /// Cycles, rounded up. 0 only for blocks that nothing executes or that do nothing.
  unsigned of(const llvm::BasicBlock& block) const { return cycles_.lookup(&block); }

 private:
  /// Issue slots: quarters of a cycle.
  unsigned slots(const llvm::Instruction& instruction) const;
  /// Cycles from an operand to the result. A load's is what its hook's charge leaves out.
  unsigned latency(const llvm::Instruction& instruction) const;
  /// The longest chain from a value that the loop's header gets from the turn before to the next.
  unsigned carried_latency(const llvm::Loop& loop, llvm::ArrayRef<llvm::BasicBlock*> order) const;
  void charge_carried(const llvm::Loop& loop, const llvm::LoopInfo& loops,
                      const llvm::DominatorTree& dominators);

  const llvm::TargetTransformInfo& target_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> cycles_;
};

}  // namespace unlatch::instrument
