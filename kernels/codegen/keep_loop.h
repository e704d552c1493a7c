// Loops that a GPU's assembler must not unroll.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_KEEP_LOOP_H_
#define PARTITA_KERNELS_CODEGEN_KEEP_LOOP_H_

#include "llvm/IR/Instructions.h"

namespace partita {

// `back` is the branch to the loop's begin. The assembler unrolls loops until
// all registers are used, and spills some values then; the emitters know how
// many rounds fit (gpu_kernel.h).
void KeepLoop(llvm::BranchInst& back);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_KEEP_LOOP_H_
