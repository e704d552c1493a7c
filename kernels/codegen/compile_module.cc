// LLVM's module, target machine and code generator.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/compile_module.h"

#include <memory>

#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace partita {
namespace {

std::unique_ptr<llvm::TargetMachine> MachineFor(const ModuleTarget& wanted,
                                                std::string& error) {
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(wanted.triple, error);
  if (target == nullptr) return nullptr;
  llvm::TargetOptions options;
  // The program, not the target, fuses products and sums. In PTX this puts
  // `.rn` on each, which forbids the driver's compiler to do so.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      wanted.triple, wanted.processor, wanted.features, options,
      llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default));
}

}  // namespace

bool CompileModule(const ModuleTarget& target,
                   const std::function<void(llvm::Module&)>& add,
                   std::string& compiled, std::string& error) {
  const std::unique_ptr<llvm::TargetMachine> machine =
      MachineFor(target, error);
  if (machine == nullptr) return false;
  llvm::LLVMContext context;
  llvm::Module module("partita", context);
  module.setTargetTriple(target.triple);
  module.setDataLayout(machine->createDataLayout());
  add(module);
  llvm::raw_string_ostream faults(error);
  if (llvm::verifyModule(module, &faults)) return false;
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, target.output)) {
    error = std::string("found no code generator for ") + target.triple +
            "; expected an LLVM with that target";
    return false;
  }
  passes.run(module);
  compiled = bytes.str().str();
  return true;
}

}  // namespace partita
