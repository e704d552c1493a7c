// The loops around a program over rows, for CPUs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_CPU_ROW_FUNCTION_H_
#define PARTITA_KERNELS_CODEGEN_CPU_ROW_FUNCTION_H_

#include "kernels/codegen/row_program.h"
#include "llvm/IR/Module.h"

namespace partita {

// Adds a function of type ElementwiseEntry that computes rows, with `lanes`
// elements at a time, or with as many as there are accumulators:
//
//   for (row = begin; row < end; ++row)
//     for each phase
//       accumulators = their start
//       for (j = 0; j < length; j += lanes)
//         accumulators[j mod their number ...] combined with elements [j ...]
//       join the accumulators, then compute the phase's scalars
//     for (j = 0; j < length; j += lanes) store elements [j ...]
//     store the row's scalars
//
// Accumulators are in memory: there are up to 1024 of each reduction.
void AddCpuRowFunction(const RowProgram& program, unsigned lanes,
                       llvm::Module& module);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_CPU_ROW_FUNCTION_H_
