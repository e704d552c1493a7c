// NVVM's intrinsics. Values of 8 bytes are shuffled by halves.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_threads.h"

#include <functional>

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

namespace partita {
namespace {

constexpr unsigned kShared = 3;  // the address space of a block's memory
constexpr int kAllThreads = -1;  // as a mask
constexpr int kLastThread = 31;

llvm::Value* Special(llvm::IRBuilder<>& ir, llvm::Intrinsic::ID id) {
  return ir.CreateIntrinsic(id, {}, {});
}

// Applies `shuffle` to each word of 4 bytes.
llvm::Value* ByWords(
    llvm::IRBuilder<>& ir, llvm::Value* value,
    const std::function<llvm::Value*(llvm::Value* word)>& shuffle) {
  llvm::Type* type = value->getType();
  llvm::Type* word = ir.getInt32Ty();
  if (type->getPrimitiveSizeInBits() == 32) {
    return ir.CreateBitCast(shuffle(ir.CreateBitCast(value, word)), type);
  }
  llvm::Value* words =
      ir.CreateBitCast(value, llvm::FixedVectorType::get(word, 2));
  for (uint64_t i = 0; i < 2; ++i) {
    words = ir.CreateInsertElement(
        words, shuffle(ir.CreateExtractElement(words, i)), i);
  }
  return ir.CreateBitCast(words, type);
}

}  // namespace

llvm::Value* GpuThread(llvm::IRBuilder<>& ir) {
  return Special(ir, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
}
llvm::Value* GpuBlockThreads(llvm::IRBuilder<>& ir) {
  return Special(ir, llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
}
llvm::Value* GpuBlock(llvm::IRBuilder<>& ir) {
  return Special(ir, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
}
llvm::Value* GpuBlocks(llvm::IRBuilder<>& ir) {
  return Special(ir, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
}

void GpuBarrier(llvm::IRBuilder<>& ir) {
  ir.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {});
}

llvm::Value* ShuffleDown(llvm::IRBuilder<>& ir, llvm::Value* value,
                         int distance) {
  return ByWords(ir, value, [&](llvm::Value* word) {
    return ir.CreateIntrinsic(
        llvm::Intrinsic::nvvm_shfl_sync_down_i32, {},
        {ir.getInt32(kAllThreads), word, ir.getInt32(distance),
         ir.getInt32(kLastThread)});
  });
}

llvm::Value* ShuffleFrom(llvm::IRBuilder<>& ir, llvm::Value* value,
                         llvm::Value* lane) {
  return ByWords(ir, value, [&](llvm::Value* word) {
    return ir.CreateIntrinsic(
        llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
        {ir.getInt32(kAllThreads), word, lane, ir.getInt32(kLastThread)});
  });
}

llvm::Value* AddSharedWords(llvm::Function& kernel, int64_t words) {
  llvm::Module& module = *kernel.getParent();
  llvm::Type* type =
      llvm::ArrayType::get(llvm::Type::getInt64Ty(module.getContext()), words);
  auto* shared = new llvm::GlobalVariable(
      module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
      llvm::PoisonValue::get(type), kernel.getName() + "_shared",
      /*InsertBefore=*/nullptr, llvm::GlobalValue::NotThreadLocal, kShared);
  shared->setAlignment(llvm::Align(8));
  return shared;
}

}  // namespace partita
