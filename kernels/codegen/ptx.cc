// LLVM's target for PTX.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/ptx.h"

#include <variant>

#include "kernels/codegen/compile_module.h"
#include "kernels/codegen/gpu_function.h"
#include "kernels/codegen/gpu_index_function.h"
#include "kernels/codegen/gpu_row_function.h"
#include "llvm/Support/TargetSelect.h"

namespace partita {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
// Of CUDA 12.0: what a driver must read at least.
constexpr char kPtxVersion[] = "+ptx80";

bool IsKnownTarget(const std::string& target) {
  return target == "sm_80" || target == "sm_90";
}

void AddKernel(const ElementwiseProgram& program, llvm::Module& module) {
  AddGpuFunction(program, module);
}
void AddKernel(const RowProgram& program, llvm::Module& module) {
  AddGpuRowFunction(program, module);
}
void AddKernel(const IndexProgram& program, llvm::Module& module) {
  AddGpuIndexFunction(program, module);
}
void AddKernel(const JoinedProgram& program, llvm::Module& module) {
  AddGpuIndexFunction(program, module);
}

}  // namespace

bool CompilePtx(const std::vector<AnyProgram>& programs,
                const std::string& target, std::string& ptx,
                std::string& error) {
  if (!IsKnownTarget(target)) {
    error = "found the target " + target + "; expected sm_80 or sm_90";
    return false;
  }
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const auto add = [&](llvm::Module& module) {
    for (const AnyProgram& program : programs) {
      std::visit([&](const auto& one) { AddKernel(one, module); }, program);
    }
  };
  return CompileModule(
      {kTriple, target, kPtxVersion, llvm::CodeGenFileType::AssemblyFile}, add,
      ptx, error);
}

}  // namespace partita
