// The loops around a program, for the threads of a GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_FUNCTION_H_
#define PARTITA_KERNELS_CODEGEN_GPU_FUNCTION_H_

#include "kernels/codegen/program.h"
#include "llvm/IR/Module.h"

namespace partita {

// Adds a kernel with the program's name (gpu_kernel.h has its parameters):
//
//   first = 0
//   if (all addresses are aligned to the accesses of a group)
//     for (i = thread; i < whole groups; i += threads)
//       load, compute and store group i
//     first = elements of the whole groups
//   for (i = first + thread; i < elements; i += threads)
//     load, compute and store element i
//
// Results may be stored over operands: no thread reads what another one writes.
void AddGpuFunction(const ElementwiseProgram& program, llvm::Module& module);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_FUNCTION_H_
