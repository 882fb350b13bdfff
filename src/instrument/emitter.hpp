// SPDX-License-Identifier: Apache-2.0
//
// Emits calls of the hooks into the code that is being instrumented, and carries the cost of the
// current basic block to the next hook that can take it.
//
// One emitter serves one module. Use: enter() each block with its cost, before() each instruction,
// then any of the hooks; leave() charges what is left before the block's terminator.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "hooks.hpp"

namespace unlatch::instrument {

class emitter {
 public:
  explicit emitter(llvm::Module& module);

  /// Starts a basic block that takes `cost` cycles, memory accesses excluded.
  void enter(llvm::BasicBlock& block, unsigned cost);
  /// What is emitted next stands before `instruction` and bears its source line.
  void before(llvm::Instruction& instruction);
  /// Ends the block: the cost that no hook carried is charged before it goes on.
  void leave(llvm::BasicBlock& block);
  /// Charges the cost so far, here: before a call, which may take the clock's time.
  void settle();
  /// Whether an access was told since enter(): there the machine looks at the clock.
  bool has_told() const { return has_told_; }
  /// Ends a turn of a loop that tells of no access, before the terminator of `block`.
  void turn(llvm::BasicBlock& block, unsigned cost);

  void read(llvm::Value* address, std::uint64_t bytes, llvm::Align alignment);
  void write(llvm::Value* address, std::uint64_t bytes, llvm::Align alignment);
  void atomic(llvm::Value* address, std::uint64_t bytes, lab::atomic_operation operation,
              llvm::AtomicOrdering order);
  void copy(llvm::Value* to, llvm::Value* from, llvm::Value* count);
  /// `joined`: belongs to the access before; see unlatch_lab_range.
  void read_range(llvm::Value* address, llvm::Value* count, bool joined = false);
  void write_range(llvm::Value* address, llvm::Value* count, bool joined = false);
  void mask(llvm::Value* address, std::uint64_t element, llvm::Value* mask, bool write);
  void gather(llvm::Value* addresses, std::uint64_t elements, std::uint64_t element,
              llvm::Value* mask, bool write);
  void fence(llvm::AtomicOrdering order);
  void string(lab::string_operation operation, llvm::Value* first, llvm::Value* second,
              llvm::Value* count);
  void instruction(lab::instruction which);
  llvm::Value* timestamp();

  /// For values that a hook takes, computed before the instruction.
  llvm::IRBuilder<>& builder() { return builder_; }
  llvm::Value* bytes(std::uint64_t count) { return builder_.getInt64(count); }
  /// A count of any integer type as the 64 bits that hooks take.
  llvm::Value* bytes(llvm::Value* count) {
    return builder_.CreateZExtOrTrunc(count, builder_.getInt64Ty());
  }

  /// Removes the declarations of hooks that nothing calls.
  void drop_unused();
  static bool is_hook(const llvm::Function& function) {
    return function.getName().starts_with("unlatch_lab_");
  }

 private:
  llvm::FunctionCallee hook(const char* name, llvm::ArrayRef<llvm::Type*> parameters);
  llvm::CallInst* call(llvm::FunctionCallee hook, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Value* number(std::uint64_t value) {
    return builder_.getInt32(static_cast<std::uint32_t>(value));
  }
  /// The pending cost, as the argument of the hook that now carries it.
  llvm::Value* take_cost();
  void range(llvm::Value* address, llvm::Value* count, unsigned how);

  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  unsigned cost_ = 0;
  bool has_told_ = false;
  llvm::DebugLoc last_line_;
  llvm::SmallVector<llvm::Function*, 16> hooks_;
  llvm::FunctionCallee read_, write_, atomic_, copy_, range_, mask_, gather_, block_, turn_, fence_,
      string_, instruction_, timestamp_;
};

}  // namespace unlatch::instrument
