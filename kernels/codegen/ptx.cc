// LLVM's module, target and printer of PTX.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/ptx.h"

#include <memory>

#include "kernels/codegen/gpu_function.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace partita {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
// Of CUDA 12.0: what a driver must read at least.
constexpr char kPtxVersion[] = "+ptx80";

bool IsKnownTarget(const std::string& target) {
  return target == "sm_80" || target == "sm_90";
}

std::unique_ptr<llvm::TargetMachine> NewTarget(const std::string& processor,
                                               std::string& error) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) return nullptr;
  llvm::TargetOptions options;
  // The program, not the target, fuses products and sums: `.rn` on each forbids
  // the driver's compiler to do so.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, processor, kPtxVersion, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

}  // namespace

bool CompilePtx(const std::vector<ElementwiseProgram>& programs,
                const std::string& target, std::string& ptx,
                std::string& error) {
  if (!IsKnownTarget(target)) {
    error = "found the target " + target + "; expected sm_80 or sm_90";
    return false;
  }
  const std::unique_ptr<llvm::TargetMachine> machine = NewTarget(target, error);
  if (machine == nullptr) return false;
  llvm::LLVMContext context;
  llvm::Module module("partita", context);
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine->createDataLayout());
  for (const ElementwiseProgram& program : programs) {
    AddGpuFunction(program, module);
  }
  llvm::raw_string_ostream faults(error);
  if (llvm::verifyModule(module, &faults)) return false;
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    error = "found no way to print PTX; expected LLVM's NVPTX target";
    return false;
  }
  passes.run(module);
  ptx = text.str().str();
  return true;
}

}  // namespace partita
