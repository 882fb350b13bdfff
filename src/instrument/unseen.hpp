// SPDX-License-Identifier: Apache-2.0
//
// What the pass cannot see, as warnings of the build: each is an access that the simulated machine
// will neither time nor roll back. They are backend warnings, so -Wno-backend-plugin silences them.
#pragma once

#include <llvm/ADT/StringSet.h>
#include <llvm/IR/Instruction.h>

namespace unlatch::instrument {

class unseen {
 public:
  /// Says so once for each function and thing. `what` completes "the simulated machine does not
  /// see".
  void report(const llvm::Instruction& where, const llvm::Twine& what);
  void report(const llvm::Function& where, const llvm::Twine& what);

 private:
  llvm::StringSet<> told_;
};

}  // namespace unlatch::instrument
