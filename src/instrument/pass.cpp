// SPDX-License-Identifier: Apache-2.0
//
// The compiler pass that makes C++ run in the simulated machine: at the end of clang's pipeline it
// puts a call of a hook (hooks.hpp) before every access to memory that others may see, and charges
// each basic block's cycles. What runs is what it saw: nothing is optimized after it.
//
// Load it with -fpass-plugin=unlatch_instrument.so. If fast_path.bc lies beside the plugin, the
// hooks' fast path is inlined from it; without it every hook is a call.

#include <dlfcn.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include "block_cost.hpp"
#include "context.hpp"
#include "silent_turns.hpp"

namespace unlatch::instrument {

using namespace llvm;

namespace {

/// The bitcode beside this plugin; empty if there is none.
std::string fast_path_file() {
  Dl_info plugin;
  static const char here = 0;
  if (dladdr(&here, &plugin) == 0) return {};
  SmallString<256> file(sys::path::parent_path(plugin.dli_fname));
  sys::path::append(file, "fast_path.bc");
  return sys::fs::exists(file) ? std::string(file) : std::string();
}

/// Arguments passed by value are copied by the call itself, from the caller's object.
void read_arguments(CallBase& call, context& in) {
  bool joined = false;
  for (unsigned index = 0; index < call.arg_size(); ++index) {
    Value* const object = call.getArgOperand(index);
    if (!call.isByValArgument(index) || in.local.contains(object)) continue;
    in.emit.read_range(object, in.emit.bytes(in.size(call.getParamByValType(index))), joined);
    joined = true;
  }
}

void instrument_call(CallBase& call, context& in) {
  if (auto* const intrinsic = dyn_cast<IntrinsicInst>(&call)) {
    return instrument_intrinsic(*intrinsic, in);
  }
  if (call.isInlineAsm()) return instrument_assembly(call, in);
  read_arguments(call, in);
  instrument_library_call(call, in);
  // What is called may read the clock, so it must be right.
  if (!call.isTerminator()) in.emit.settle();
}

void instrument_block(BasicBlock& block, unsigned cost, context& in) {
  if (block.getFirstInsertionPt() == block.end()) return;
  SmallVector<Instruction*, 32> instructions;
  for (Instruction& instruction : block) instructions.push_back(&instruction);
  in.emit.enter(block, cost);
  for (Instruction* const instruction : instructions) {
    if (isa<PHINode>(instruction) || instruction->isEHPad()) continue;
    if (isa<DbgInfoIntrinsic>(instruction)) continue;
    in.emit.before(*instruction);
    if (auto* const call = dyn_cast<CallBase>(instruction)) {
      instrument_call(*call, in);
    } else {
      instrument_access(*instruction, in);
    }
  }
  in.emit.leave(block);
}

bool is_instrumented(const Function& function) {
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         !function.hasFnAttribute(Attribute::Naked) &&
         !function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation) &&
         !emitter::is_hook(function);
}

class instrumentation : public PassInfoMixin<instrumentation> {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): LLVM's names
  static bool isRequired() { return true; }

  PreservedAnalyses run(Module& module, ModuleAnalysisManager& analyses) {
    if (module.getNamedMetadata("unlatch.instrumented") != nullptr) return PreservedAnalyses::all();
    module.getOrInsertNamedMetadata("unlatch.instrumented");
    SmallVector<Function*, 64> functions;
    for (Function& function : module) {
      if (function.hasFnAttribute(Attribute::Naked)) warnings_.report(function, "a naked function");
      if (is_instrumented(function)) functions.push_back(&function);
    }
    if (!module.getModuleInlineAsm().empty() && !functions.empty()) {
      warnings_.report(*functions.front(), "assembly outside functions in this file");
    }
    emitter emit(module);
    auto& function_analyses =
        analyses.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    for (Function* const function : functions) instrument(*function, emit, function_analyses);
    emit.drop_unused();
    const std::string fast_path = fast_path_file();
    if (!fast_path.empty()) link_fast_path(module, fast_path, analyses);
    return PreservedAnalyses::none();
  }

 private:
  void instrument(Function& function, emitter& emit, FunctionAnalysisManager& analyses) {
    local_memory local;
    const block_costs costs(function, local, analyses.getResult<TargetIRAnalysis>(function),
                            analyses.getResult<LoopAnalysis>(function),
                            analyses.getResult<DominatorTreeAnalysis>(function));
    context in{emit,
               local,
               warnings_,
               function.getParent()->getDataLayout(),
               analyses.getResult<TargetLibraryAnalysis>(function),
               {}};
    SmallPtrSet<BasicBlock*, 32> silent;
    for (BasicBlock& block : function) {
      instrument_block(block, costs.of(block), in);
      if (!emit.has_told()) silent.insert(&block);
    }
    const auto cost = [&costs](const BasicBlock& block) { return costs.of(block); };
    for (const auto& [block, beyond] : find_silent_turns(silent, function, cost)) {
      emit.turn(*block, beyond);
    }
    for (Instruction* const instruction : in.replaced) instruction->eraseFromParent();
  }

  unseen warnings_;
};

void register_passes(PassBuilder& builder) {
  builder.registerOptimizerLastEPCallback(
      [](ModulePassManager& passes, OptimizationLevel) { passes.addPass(instrumentation()); });
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager& passes, ArrayRef<PassBuilder::PipelineElement>) {
        if (name != "unlatch-instrument") return false;
        passes.addPass(instrumentation());
        return true;
      });
}

}  // namespace

}  // namespace unlatch::instrument

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "unlatch_instrument", "1", unlatch::instrument::register_passes};
}
