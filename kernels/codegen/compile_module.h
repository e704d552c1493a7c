// LLVM's module, target machine and code generator for a list of functions.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_COMPILE_MODULE_H_
#define PARTITA_KERNELS_CODEGEN_COMPILE_MODULE_H_

#include <functional>
#include <string>

#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"

namespace partita {

struct ModuleTarget {
  const char* triple;
  std::string processor;
  const char* features;
  llvm::CodeGenFileType output;
};

// Compiles the functions that `add` adds to a module. LLVM's target must be
// initialized. False with the fault if LLVM refuses.
bool CompileModule(const ModuleTarget& target,
                   const std::function<void(llvm::Module&)>& add,
                   std::string& compiled, std::string& error);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_COMPILE_MODULE_H_
