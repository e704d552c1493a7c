// The loop around an index program, for CPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_CPU_INDEX_FUNCTION_H_
#define PARTITA_KERNELS_CODEGEN_CPU_INDEX_FUNCTION_H_

#include "kernels/codegen/index_program.h"
#include "llvm/IR/Module.h"

namespace partita {

// Adds a function of type ElementwiseEntry that computes points [begin, end),
// one by one: CPUs have libraries for such ops, and this one is what a GPU's
// results are compared with.
void AddCpuIndexFunction(const IndexProgram& program, llvm::Module& module);
// The same for the points of all parts.
void AddCpuIndexFunction(const JoinedProgram& program, llvm::Module& module);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_CPU_INDEX_FUNCTION_H_
