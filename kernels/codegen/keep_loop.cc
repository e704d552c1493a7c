// LLVM's metadata, which becomes `.pragma "nounroll"` in PTX.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/keep_loop.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"

namespace partita {

void KeepLoop(llvm::BranchInst& back) {
  llvm::LLVMContext& context = back.getContext();
  llvm::MDNode* keep = llvm::MDNode::get(
      context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  // The first operand of a loop's node is the node itself.
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, {nullptr, keep});
  loop->replaceOperandWith(0, loop);
  back.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

}  // namespace partita
