// A loop over points.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/cpu_index_function.h"

#include <vector>

#include "kernels/codegen/cpu_entry.h"
#include "kernels/codegen/index_emitter.h"
#include "kernels/codegen/loop_index.h"

namespace partita {
namespace {

std::vector<llvm::Value*> Addresses(llvm::IRBuilder<>& ir, llvm::Value* array,
                                    size_t count) {
  std::vector<llvm::Value*> addresses;
  for (size_t i = 0; i < count; ++i) {
    addresses.push_back(ir.CreateLoad(
        ir.getPtrTy(), ir.CreateConstGEP1_64(ir.getPtrTy(), array, i)));
  }
  return addresses;
}

}  // namespace

void AddCpuIndexFunction(const IndexProgram& program, llvm::Module& module) {
  llvm::IRBuilder<> ir(module.getContext());
  llvm::Function* function = AddCpuEntry(program.name, module);
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(module.getContext(), name, function);
  };
  llvm::BasicBlock* entry = block("entry");
  llvm::BasicBlock* point = block("point");
  llvm::BasicBlock* done = block("done");
  llvm::Value* begin = function->getArg(2);
  llvm::Value* end = function->getArg(3);

  ir.SetInsertPoint(entry);
  IndexEmitter emitter(
      program, ir, Addresses(ir, function->getArg(0), program.operands.size()),
      Addresses(ir, function->getArg(1), program.last.results.size()));
  ir.CreateCondBr(ir.CreateICmpSLT(begin, end), point, done);

  ir.SetInsertPoint(point);
  llvm::PHINode* i = ir.CreatePHI(ir.getInt64Ty(), 2, "i");
  i->addIncoming(begin, entry);
  std::vector<llvm::Value*> coordinates = LoopCoordinates(ir, program.loops, i);
  for (llvm::Value*& coordinate : coordinates) {
    coordinate = ir.CreateTrunc(coordinate, emitter.index_type());
  }
  emitter.EmitTile(IndexTile(), coordinates);
  llvm::Value* next = ir.CreateAdd(i, ir.getInt64(1));
  i->addIncoming(next, ir.GetInsertBlock());
  ir.CreateCondBr(ir.CreateICmpSLT(next, end), point, done);

  ir.SetInsertPoint(done);
  ir.CreateRetVoid();
}

}  // namespace partita
