// SPDX-License-Identifier: Apache-2.0
//
// Which memory of a function needs no hooks, because no other thread can see it and a transaction
// that aborts need not restore it from a log: constants, and locals whose address never leaves the
// function. Their stack frame is copied when a transaction begins, or gone when it aborts.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Value.h>

namespace unlatch::instrument {

class local_memory {
 public:
  bool contains(const llvm::Value* address);

 private:
  llvm::DenseMap<const llvm::Value*, bool> known_;
};

}  // namespace unlatch::instrument
