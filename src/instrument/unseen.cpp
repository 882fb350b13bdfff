// SPDX-License-Identifier: Apache-2.0
//
// Warnings through the compiler's own diagnostics.

#include "unseen.hpp"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LLVMContext.h>

namespace unlatch::instrument {

using namespace llvm;

namespace {

class unseen_warning : public DiagnosticInfo {
 public:
  explicit unseen_warning(std::string text)
      : DiagnosticInfo(kind(), DS_Warning), text_(std::move(text)) {}
  void print(DiagnosticPrinter& printer) const override { printer << text_; }

 private:
  static int kind() {
    static const int number = getNextAvailablePluginDiagnosticKind();
    return number;
  }
  std::string text_;
};

void warn(StringSet<>& told, const Function& function, const std::string& place,
          const Twine& what) {
  const std::string text = (place + "in " + demangle(function.getName()) +
                            ": the simulated machine does not see " + what)
                               .str();
  if (told.insert(text).second) function.getContext().diagnose(unseen_warning(text));
}

}  // namespace

void unseen::report(const Instruction& where, const Twine& what) {
  std::string place;
  if (const DebugLoc& line = where.getDebugLoc(); line && line.getLine() != 0) {
    const auto* const scope = cast<DIScope>(line.getScope());
    place = (scope->getFilename() + ":" + Twine(line.getLine()) + ": ").str();
  }
  warn(told_, *where.getFunction(), place, what);
}

void unseen::report(const Function& where, const Twine& what) { warn(told_, where, "", what); }

}  // namespace unlatch::instrument
