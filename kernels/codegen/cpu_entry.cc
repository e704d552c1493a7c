// The type and the attributes of generated functions.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/cpu_entry.h"

#include "llvm/IR/DerivedTypes.h"

namespace partita {

llvm::Function* AddCpuEntry(const std::string& name, llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* number = llvm::Type::getInt64Ty(context);
  llvm::Function* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                              {pointer, pointer, number, number}, false),
      llvm::Function::ExternalLinkage, name, module);
  // Generated code has no imports, so LLVM must not turn loops into calls of
  // memcpy or memset.
  function->addFnAttr("no-builtins");
  function->addFnAttr("min-legal-vector-width", "512");
  function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

}  // namespace partita
