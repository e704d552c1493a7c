// The loops around a program over rows, for the threads of a GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_ROW_FUNCTION_H_
#define PARTITA_KERNELS_CODEGEN_GPU_ROW_FUNCTION_H_

#include "kernels/codegen/row_program.h"
#include "llvm/IR/Module.h"

namespace partita {

// Adds a kernel with the program's name; gpu_kernel.h has its parameters and
// how threads share a row:
//
//   for (row = the block's; row < rows; row += rows of all blocks)
//     for each phase
//       for (i = thread; i < groups of the row; i += threads of the row)
//         combine group i of elements with the thread's accumulators
//       join the accumulators of the thread; then those of neighbouring threads
//       by shuffles; then, through shared memory, those of warps
//       compute the phase's scalars, in every thread
//     for (i = thread; ...) store group i of elements
//     store the row's scalars, by its first thread
//
// There are two copies: with accesses of whole groups, if all addresses are
// aligned to them, and with single elements.
void AddGpuRowFunction(const RowProgram& program, llvm::Module& module);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_ROW_FUNCTION_H_
