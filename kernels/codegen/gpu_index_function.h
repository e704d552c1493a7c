// The loops around an index program, for the threads of a GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_INDEX_FUNCTION_H_
#define PARTITA_KERNELS_CODEGEN_GPU_INDEX_FUNCTION_H_

#include "kernels/codegen/index_program.h"
#include "llvm/IR/Module.h"

namespace partita {

// Adds a kernel with the program's name; gpu_kernel.h has its parameters and
// its tiles:
//
//   if (all addresses are aligned to the accesses of a tile)
//     for (i = thread; i < tiles; i += threads) compute and store tile i
//   else
//     for (i = thread; i < points; i += threads) compute and store point i
//
// Threads share nothing, so any launch of one dimension gives the same bits.
void AddGpuIndexFunction(const IndexProgram& program, llvm::Module& module);
// The same for one part after the other.
void AddGpuIndexFunction(const JoinedProgram& program, llvm::Module& module);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_INDEX_FUNCTION_H_
