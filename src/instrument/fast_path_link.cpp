// SPDX-License-Identifier: Apache-2.0
//
// Linking and inlining the fast path: after this, most hooks of the module are a few instructions.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>

#include "context.hpp"

namespace unlatch::instrument {

using namespace llvm;

void link_fast_path(Module& module, StringRef bitcode, ModuleAnalysisManager& analyses) {
  SMDiagnostic fault;
  std::unique_ptr<Module> fast = parseIRFile(bitcode, fault, module.getContext());
  if (!fast) report_fatal_error("the simulated machine's fast path: cannot read " + bitcode);
  SmallVector<std::string, 4> names;
  for (const Function& function : *fast) {
    if (!function.isDeclaration()) names.push_back(function.getName().str());
  }
  // How the file was compiled says nothing about this module.
  if (NamedMDNode* const flags = fast->getModuleFlagsMetadata()) fast->eraseNamedMetadata(flags);
  fast->setTargetTriple(module.getTargetTriple());
  fast->setDataLayout(module.getDataLayout());
  if (Linker::linkModules(module, std::move(fast), Linker::LinkOnlyNeeded)) {
    report_fatal_error("the simulated machine's fast path: cannot link " + bitcode);
  }
  for (const std::string& name : names) {
    Function* const function = module.getFunction(name);
    if (function != nullptr && !function->isDeclaration()) {
      function->setLinkage(GlobalValue::InternalLinkage);
    }
  }
  analyses.invalidate(module, PreservedAnalyses::none());
  ModulePassManager passes;
  passes.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.run(module, analyses);
}

}  // namespace unlatch::instrument
