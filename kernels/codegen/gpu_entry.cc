// LLVM's conventions for kernels.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_entry.h"

#include "kernels/codegen/gpu_kernel.h"

namespace partita {
namespace {

constexpr unsigned kGlobal = 1;  // the address space of the device's memory

void Annotate(llvm::Function& kernel, const char* name, unsigned value) {
  llvm::LLVMContext& context = kernel.getContext();
  kernel.getParent()
      ->getOrInsertNamedMetadata("nvvm.annotations")
      ->addOperand(llvm::MDNode::get(
          context, {llvm::ValueAsMetadata::get(&kernel),
                    llvm::MDString::get(context, name),
                    llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
                        llvm::Type::getInt32Ty(context), value))}));
}

}  // namespace

llvm::Function* AddGpuEntry(const std::string& name, size_t parameters,
                            GpuThreads how, unsigned block_threads,
                            int64_t thread_words, llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(
          llvm::Type::getVoidTy(context),
          std::vector<llvm::Type*>(parameters,
                                   llvm::PointerType::get(context, 0)),
          false),
      llvm::Function::ExternalLinkage, name, module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  Annotate(*function, how == GpuThreads::kExactly ? "reqntidx" : "maxntidx",
           block_threads);
  Annotate(*function, "minctasm",
           BlocksOfMultiprocessor(thread_words, block_threads));
  return function;
}

void SplitParameters(llvm::IRBuilder<>& ir, llvm::Function& function,
                     size_t count, std::vector<llvm::Value*>& operands,
                     std::vector<llvm::Value*>& results) {
  for (llvm::Argument& argument : function.args()) {
    llvm::Value* address = ir.CreateAddrSpaceCast(
        &argument, llvm::PointerType::get(ir.getContext(), kGlobal));
    (argument.getArgNo() < count ? operands : results).push_back(address);
  }
}

}  // namespace partita
