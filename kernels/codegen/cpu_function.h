// The loops around a program, for CPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_CPU_FUNCTION_H_
#define PARTITA_KERNELS_CODEGEN_CPU_FUNCTION_H_

#include "kernels/codegen/program.h"
#include "llvm/IR/Module.h"

namespace partita {

// Adds a function of type ElementwiseEntry that computes `lanes` elements at a
// time and the rest of a line with masked loads and stores:
//
//   for (index = begin; index < end; index += count)
//     count = the rest of the innermost loop's line, or of [begin, end)
//     for (j = 0; j + lanes <= count; j += lanes)  all lanes
//     if (j < count)                               the first count - j lanes
//
// Large results (kLeastStreamedBytes) bypass the caches if all lanes are stored
// to aligned addresses; other threads see them when the function returns. If a
// result overlaps an operand, none bypasses the caches, which hold its lines
// already.
void AddCpuFunction(const ElementwiseProgram& program, unsigned lanes,
                    llvm::Module& module);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_CPU_FUNCTION_H_
