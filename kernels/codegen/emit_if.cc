// Emits the two blocks and the branch.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/emit_if.h"

namespace partita {

void EmitIf(llvm::IRBuilder<>& ir, llvm::Value* condition,
            const std::function<void()>& emit) {
  if (condition == nullptr) return emit();
  llvm::Function* function = ir.GetInsertBlock()->getParent();
  llvm::BasicBlock* then =
      llvm::BasicBlock::Create(ir.getContext(), "then", function);
  llvm::BasicBlock* next =
      llvm::BasicBlock::Create(ir.getContext(), "next", function);
  ir.CreateCondBr(condition, then, next);
  ir.SetInsertPoint(then);
  emit();
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
}

}  // namespace partita
