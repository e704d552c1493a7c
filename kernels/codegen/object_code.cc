// LLVM's module, target and code generator.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/object_code.h"

#include <memory>
#include <optional>

#include "kernels/codegen/cpu_function.h"
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

constexpr char kTriple[] = "x86_64-unknown-linux-gnu";

struct IsaFeatures {
  const char* isa;
  const char* features;
  unsigned lanes;  // f32 elements in a register
};
// A subset of the features that the runtime checks (graph/host_capacity.cc).
constexpr IsaFeatures kIsas[] = {
    {"sse4", "+sse4.2,+popcnt", 4},
    {"avx2", "+avx2,+fma,+f16c", 8},
    {"avx512", "+avx2,+fma,+f16c,+avx512f,+avx512bw,+avx512dq,+avx512vl", 16},
};

const IsaFeatures* FindIsa(const std::string& isa) {
  for (const IsaFeatures& known : kIsas) {
    if (isa == known.isa) return &known;
  }
  return nullptr;
}

std::unique_ptr<llvm::TargetMachine> NewTarget(const IsaFeatures& isa,
                                               std::string& error) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) return nullptr;
  llvm::TargetOptions options;
  // The program, not the target, fuses products and sums.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, "x86-64", isa.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

}  // namespace

bool CompileObject(const std::vector<ElementwiseProgram>& programs,
                   const std::string& isa, std::string& object,
                   std::string& error) {
  const IsaFeatures* features = FindIsa(isa);
  if (features == nullptr) {
    error =
        "found the instruction set " + isa + "; expected sse4, avx2 or avx512";
    return false;
  }
  const std::unique_ptr<llvm::TargetMachine> target =
      NewTarget(*features, error);
  if (target == nullptr) return false;
  llvm::LLVMContext context;
  llvm::Module module("partita", context);
  module.setTargetTriple(kTriple);
  module.setDataLayout(target->createDataLayout());
  for (const ElementwiseProgram& program : programs) {
    AddCpuFunction(program, features->lanes, module);
  }
  llvm::raw_string_ostream faults(error);
  if (llvm::verifyModule(module, &faults)) return false;
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (target->addPassesToEmitFile(passes, out, nullptr,
                                  llvm::CodeGenFileType::ObjectFile)) {
    error = "found no way to write object files; expected LLVM's x86 target";
    return false;
  }
  passes.run(module);
  object = bytes.str().str();
  return true;
}

}  // namespace partita
