// The loops of a CPU around a program.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_CPU_FUNCTION_H_
#define PARTITA_KERNELS_CODEGEN_CPU_FUNCTION_H_

#include "kernels/codegen/program.h"
#include "llvm/IR/Module.h"

namespace partita {

// Adds a function of type ElementwiseEntry that computes `lanes` elements at a
// time and the rest of a line by masked loads and stores:
//
//   for (index = begin; index < end; index += count)
//     count = what is left of the innermost loop's line, or of [begin, end)
//     for (j = 0; j + lanes <= count; j += lanes)  all lanes
//     if (j < count)                               the first count - j lanes
//
// Large results (kLeastStreamedBytes) go past the caches where all lanes are
// stored to aligned addresses, and are there for other threads when the
// function returns. None do where one of them lies over an operand: its lines
// are in the caches already.
void AddCpuFunction(const ElementwiseProgram& program, unsigned lanes,
                    llvm::Module& module);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_CPU_FUNCTION_H_
