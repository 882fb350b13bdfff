// SPDX-License-Identifier: Apache-2.0
//
// A depth-first search over the silent blocks: every cycle has an edge back to a block that is
// still on the path of the search.

#include "silent_turns.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Function.h>

#include <algorithm>

namespace unlatch::instrument {

using namespace llvm;

namespace {

class search {
 public:
  search(const SmallPtrSetImpl<BasicBlock*>& silent, function_ref<unsigned(const BasicBlock&)> cost)
      : silent_(silent), cost_(cost) {}

  void from(BasicBlock& root) {
    enter(root);
    while (!path_.empty()) {
      step& at = path_.back();
      if (at.next == succ_end(at.block)) {
        place_.erase(at.block);
        path_.pop_back();
      } else {
        follow(**at.next++);
      }
    }
  }

  turn_ends found() { return std::move(ends_); }

 private:
  struct step {
    BasicBlock* block;
    succ_iterator next;
    unsigned cycles_before;  ///< what the blocks of the path before this one cost
  };

  void enter(BasicBlock& block) {
    if (!silent_.contains(&block) || !seen_.insert(&block).second) return;
    const unsigned before =
        path_.empty() ? 0 : path_.back().cycles_before + cost_(*path_.back().block);
    place_[&block] = path_.size();
    path_.push_back({&block, succ_begin(&block), before});
  }

  void follow(BasicBlock& next) {
    const auto turned = place_.find(&next);
    if (turned == place_.end()) return enter(next);
    const step& last = path_.back();
    const unsigned turn =
        last.cycles_before + cost_(*last.block) - path_[turned->second].cycles_before;
    unsigned& beyond = ends_[last.block];
    beyond = std::max(beyond, turn == 0 ? 1U : 0U);
  }

  const SmallPtrSetImpl<BasicBlock*>& silent_;
  function_ref<unsigned(const BasicBlock&)> cost_;
  SmallVector<step, 32> path_;
  DenseMap<const BasicBlock*, std::size_t> place_;  ///< in the path
  SmallPtrSet<const BasicBlock*, 32> seen_;
  turn_ends ends_;
};

}  // namespace

turn_ends find_silent_turns(const SmallPtrSetImpl<BasicBlock*>& silent, Function& function,
                            function_ref<unsigned(const BasicBlock&)> cost) {
  search all(silent, cost);
  for (BasicBlock& block : function) all.from(block);
  return all.found();
}

}  // namespace unlatch::instrument
