// LLVM's target for the processors of hosts.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/object_code.h"

#include <variant>

#include "kernels/codegen/compile_module.h"
#include "kernels/codegen/cpu_function.h"
#include "kernels/codegen/cpu_index_function.h"
#include "kernels/codegen/cpu_row_function.h"
#include "llvm/Support/TargetSelect.h"

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

void AddFunction(const ElementwiseProgram& program, unsigned lanes,
                 llvm::Module& module) {
  AddCpuFunction(program, lanes, module);
}
void AddFunction(const RowProgram& program, unsigned lanes,
                 llvm::Module& module) {
  AddCpuRowFunction(program, lanes, module);
}
void AddFunction(const IndexProgram& program, unsigned /*lanes*/,
                 llvm::Module& module) {
  AddCpuIndexFunction(program, module);
}
void AddFunction(const JoinedProgram& program, unsigned /*lanes*/,
                 llvm::Module& module) {
  AddCpuIndexFunction(program, module);
}

}  // namespace

bool CompileObject(const std::vector<AnyProgram>& programs,
                   const std::string& isa, std::string& object,
                   std::string& error) {
  const IsaFeatures* features = FindIsa(isa);
  if (features == nullptr) {
    error =
        "found the instruction set " + isa + "; expected sse4, avx2 or avx512";
    return false;
  }
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  const auto add = [&](llvm::Module& module) {
    for (const AnyProgram& program : programs) {
      std::visit(
          [&](const auto& one) { AddFunction(one, features->lanes, module); },
          program);
    }
  };
  return CompileModule({kTriple, "x86-64", features->features,
                        llvm::CodeGenFileType::ObjectFile},
                       add, object, error);
}

}  // namespace partita
