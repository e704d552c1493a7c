// Functions of type ElementwiseEntry.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_CPU_ENTRY_H_
#define PARTITA_KERNELS_CODEGEN_CPU_ENTRY_H_

#include <string>

#include "llvm/IR/Module.h"

namespace partita {

// A function without a body: of the arrays of operands' and results' addresses,
// begin and end.
llvm::Function* AddCpuEntry(const std::string& name, llvm::Module& module);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_CPU_ENTRY_H_
