// The coordinates of an element in loops, and its offset in an operand, as LLVM
// IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_LOOP_INDEX_H_
#define PARTITA_KERNELS_CODEGEN_LOOP_INDEX_H_

#include <cstdint>
#include <vector>

#include "llvm/IR/IRBuilder.h"

namespace partita {

// By loop, of the element `index` in order; a vector's for a vector.
std::vector<llvm::Value*> LoopCoordinates(llvm::IRBuilder<>& ir,
                                          const std::vector<int64_t>& loops,
                                          llvm::Value* index);

// The sum of coordinates times strides, of the type `type`.
llvm::Value* LoopOffset(llvm::IRBuilder<>& ir, llvm::Type* type,
                        const std::vector<llvm::Value*>& coordinates,
                        const std::vector<int64_t>& strides);

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_LOOP_INDEX_H_
