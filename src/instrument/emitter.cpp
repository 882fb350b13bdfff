// SPDX-License-Identifier: Apache-2.0
//
// The calls of the hooks: declarations that agree with hooks.hpp, arguments, source lines.

#include "emitter.hpp"

#include <llvm/IR/DebugInfoMetadata.h>

namespace unlatch::instrument {

using namespace llvm;

emitter::emitter(Module& module) : module_(module), builder_(module.getContext()) {
  Type* const address = builder_.getPtrTy();
  Type* const n32 = builder_.getInt32Ty();
  Type* const n64 = builder_.getInt64Ty();
  read_ = hook("unlatch_lab_read", {address, n32, n32});
  write_ = hook("unlatch_lab_write", {address, n32, n32});
  atomic_ = hook("unlatch_lab_atomic", {address, n32, n32, n32});
  copy_ = hook("unlatch_lab_copy", {address, address, n64, n32});
  range_ = hook("unlatch_lab_range", {address, n64, n32, n32});
  mask_ = hook("unlatch_lab_mask", {address, n32, n64, n32, n32});
  gather_ = hook("unlatch_lab_gather", {address, n32, n32, n64, n32, n32});
  block_ = hook("unlatch_lab_block", {n32});
  turn_ = hook("unlatch_lab_turn", {n32});
  fence_ = hook("unlatch_lab_fence", {n32, n32});
  string_ = hook("unlatch_lab_string", {n32, address, address, n64});
  instruction_ = hook("unlatch_lab_instruction", {n32, n32});
  timestamp_ = hook("unlatch_lab_timestamp", {n32});
}

FunctionCallee emitter::hook(const char* name, ArrayRef<Type*> parameters) {
  Type* const result =
      StringRef(name) == "unlatch_lab_timestamp" ? builder_.getInt64Ty() : builder_.getVoidTy();
  FunctionCallee callee =
      module_.getOrInsertFunction(name, FunctionType::get(result, parameters, false));
  if (auto* const function = dyn_cast<Function>(callee.getCallee())) {
    function->addFnAttr(Attribute::NoUnwind);
    function->setCallingConv(CallingConv::PreserveMost);
    hooks_.push_back(function);
  }
  return callee;
}

CallInst* emitter::call(FunctionCallee hook, ArrayRef<Value*> arguments) {
  CallInst* const made = builder_.CreateCall(hook, arguments);
  made->setCallingConv(CallingConv::PreserveMost);
  made->addFnAttr(Attribute::NoUnwind);
  // Merged calls would lose the source line of all but one.
  made->addFnAttr(Attribute::NoMerge);
  return made;
}

void emitter::enter(BasicBlock&, unsigned cost) {
  cost_ = cost;
  has_told_ = false;
  last_line_ = DebugLoc();
}

namespace {

bool names_a_line(const DebugLoc& line) { return line && line.getLine() != 0; }

/// The first line that the rest of the block names; else the function's.
DebugLoc line_after(Instruction& instruction) {
  for (Instruction* next = &instruction; next != nullptr; next = next->getNextNode()) {
    if (names_a_line(next->getDebugLoc())) return next->getDebugLoc();
  }
  DISubprogram* const function = instruction.getFunction()->getSubprogram();
  if (function == nullptr) return {};
  return DILocation::get(instruction.getContext(), function->getLine(), 0, function);
}

}  // namespace

void emitter::before(Instruction& instruction) {
  builder_.SetInsertPoint(&instruction);
  // Optimization leaves some instructions without a line: they take their neighbour's.
  if (names_a_line(instruction.getDebugLoc())) {
    last_line_ = instruction.getDebugLoc();
  } else if (!last_line_) {
    last_line_ = line_after(instruction);
  }
  builder_.SetCurrentDebugLocation(last_line_);
}

void emitter::settle() {
  if (cost_ != 0) call(block_, {take_cost()});
}

void emitter::leave(BasicBlock& block) {
  if (cost_ == 0) return;
  // Nothing may stand between a musttail call and its return.
  CallInst* const tail = block.getTerminatingMustTailCall();
  before(tail != nullptr ? *static_cast<Instruction*>(tail) : *block.getTerminator());
  settle();
}

void emitter::turn(BasicBlock& block, unsigned cost) {
  enter(block, cost);
  before(*block.getTerminator());
  call(turn_, {take_cost()});
}

Value* emitter::take_cost() {
  const unsigned cost = cost_;
  cost_ = 0;
  return number(cost);
}

namespace {
std::uint64_t size_argument(std::uint64_t bytes, Align alignment) {
  const bool aligned = isPowerOf2_64(bytes) && alignment.value() >= bytes;
  const bool within = bytes <= lab::line_bytes && (aligned || alignment.value() >= lab::line_bytes);
  return bytes | (within ? lab::within_line : 0);
}
}  // namespace

void emitter::read(Value* address, std::uint64_t bytes, Align alignment) {
  has_told_ = true;
  if (bytes > lab::size_mask) return read_range(address, builder_.getInt64(bytes));
  call(read_, {address, number(size_argument(bytes, alignment)), take_cost()});
}

void emitter::write(Value* address, std::uint64_t bytes, Align alignment) {
  has_told_ = true;
  if (bytes > lab::size_mask) return write_range(address, builder_.getInt64(bytes));
  call(write_, {address, number(size_argument(bytes, alignment)), take_cost()});
}

void emitter::atomic(Value* address, std::uint64_t bytes, lab::atomic_operation operation,
                     AtomicOrdering order) {
  has_told_ = true;
  const unsigned what = static_cast<unsigned>(operation) | static_cast<unsigned>(order) << 4;
  call(atomic_, {address, number(bytes), number(what), take_cost()});
}

void emitter::copy(Value* to, Value* from, Value* count) {
  call(copy_, {to, from, count, take_cost()});
}

void emitter::range(Value* address, Value* count, unsigned how) {
  call(range_, {address, count, number(how), take_cost()});
}
void emitter::read_range(Value* address, Value* count, bool joined) {
  range(address, count, joined ? 4 : 0);
}
void emitter::write_range(Value* address, Value* count, bool joined) {
  range(address, count, joined ? 5 : 1);
}

void emitter::mask(Value* address, std::uint64_t element, Value* mask, bool write) {
  call(mask_, {address, number(element), mask, number(write), take_cost()});
}

void emitter::gather(Value* addresses, std::uint64_t elements, std::uint64_t element, Value* mask,
                     bool write) {
  call(gather_, {addresses, number(elements), number(element), mask, number(write), take_cost()});
}

void emitter::fence(AtomicOrdering order) {
  call(fence_, {number(static_cast<unsigned>(order)), take_cost()});
}

void emitter::string(lab::string_operation operation, Value* first, Value* second, Value* count) {
  settle();
  Value* const nothing = ConstantPointerNull::get(builder_.getPtrTy());
  call(string_,
       {number(static_cast<unsigned>(operation)), first, second != nullptr ? second : nothing,
        count != nullptr ? bytes(count) : builder_.getInt64(~std::uint64_t{0})});
}

void emitter::instruction(lab::instruction which) {
  call(instruction_, {number(static_cast<unsigned>(which)), take_cost()});
}

Value* emitter::timestamp() { return call(timestamp_, {take_cost()}); }

void emitter::drop_unused() {
  for (Function* const function : hooks_) {
    if (function->isDeclaration() && function->use_empty()) function->eraseFromParent();
  }
  hooks_.clear();
}

}  // namespace unlatch::instrument
