// Divisions by constants, and products.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/loop_index.h"

#include <cstddef>

namespace partita {

std::vector<llvm::Value*> LoopCoordinates(llvm::IRBuilder<>& ir,
                                          const std::vector<int64_t>& loops,
                                          llvm::Value* index) {
  std::vector<llvm::Value*> coordinates(loops.size());
  for (size_t loop = coordinates.size(); loop-- > 0;) {
    llvm::Value* extent = llvm::ConstantInt::get(index->getType(), loops[loop]);
    coordinates[loop] = loop == 0 ? index : ir.CreateURem(index, extent);
    if (loop > 0) index = ir.CreateUDiv(index, extent);
  }
  return coordinates;
}

llvm::Value* LoopOffset(llvm::IRBuilder<>& ir, llvm::Type* type,
                        const std::vector<llvm::Value*>& coordinates,
                        const std::vector<int64_t>& strides) {
  llvm::Value* offset = llvm::Constant::getNullValue(type);
  for (size_t loop = 0; loop < coordinates.size(); ++loop) {
    if (strides[loop] == 0) continue;
    offset = ir.CreateAdd(
        offset, ir.CreateMul(coordinates[loop],
                             llvm::ConstantInt::get(type, strides[loop])));
  }
  return offset;
}

}  // namespace partita
