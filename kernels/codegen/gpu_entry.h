// Kernels of a PTX text, and their parameters.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_ENTRY_H_
#define PARTITA_KERNELS_CODEGEN_GPU_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace partita {

// How many threads a block has.
enum class GpuThreads : uint8_t { kAtMost, kExactly };

// A kernel without a body. All parameters are addresses. The assembler may give
// a thread registers for its live words (gpu_kernel.h) and no more.
llvm::Function* AddGpuEntry(const std::string& name, size_t parameters,
                            GpuThreads how, unsigned block_threads,
                            int64_t thread_words, llvm::Module& module);

// The parameters as addresses of the device's memory: `count` operands, then
// the results. At the builder's position.
void SplitParameters(llvm::IRBuilder<>& ir, llvm::Function& function,
                     size_t count, std::vector<llvm::Value*>& operands,
                     std::vector<llvm::Value*>& results);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_ENTRY_H_
