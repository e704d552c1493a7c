// Shuffles, barriers and shared memory, as LLVM IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_THREADS_H_
#define PARTITA_KERNELS_CODEGEN_GPU_THREADS_H_

#include <cstdint>

#include "llvm/IR/IRBuilder.h"

namespace partita {

// The number of this thread in its block, and of a block's threads; the number
// of this block in the grid, and of blocks.
llvm::Value* GpuThread(llvm::IRBuilder<>& ir);
llvm::Value* GpuBlockThreads(llvm::IRBuilder<>& ir);
llvm::Value* GpuBlock(llvm::IRBuilder<>& ir);
llvm::Value* GpuBlocks(llvm::IRBuilder<>& ir);

// Waits for all threads of the block; what they wrote to shared memory can be
// read then.
void GpuBarrier(llvm::IRBuilder<>& ir);

// Of values of 4 or 8 bytes, in all threads of a warp: that of the thread
// `distance` later (the own one beyond the warp), and that of thread `lane`.
llvm::Value* ShuffleDown(llvm::IRBuilder<>& ir, llvm::Value* value,
                         int distance);
llvm::Value* ShuffleFrom(llvm::IRBuilder<>& ir, llvm::Value* value,
                         llvm::Value* lane);

// `words` of 8 bytes of shared memory, named after the kernel.
llvm::Value* AddSharedWords(llvm::Function& kernel, int64_t words);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_THREADS_H_
