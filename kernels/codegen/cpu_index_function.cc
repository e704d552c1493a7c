// A loop over points, for each program.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/cpu_index_function.h"

#include <string>
#include <vector>

#include "kernels/codegen/cpu_entry.h"
#include "kernels/codegen/index_emitter.h"
#include "kernels/codegen/loop_index.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace partita {
namespace {

std::vector<llvm::Value*> Addresses(llvm::IRBuilder<>& ir, llvm::Value* array,
                                    size_t first, size_t count) {
  std::vector<llvm::Value*> addresses;
  for (size_t i = first; i < first + count; ++i) {
    addresses.push_back(ir.CreateLoad(
        ir.getPtrTy(), ir.CreateConstGEP1_64(ir.getPtrTy(), array, i)));
  }
  return addresses;
}

// A function that computes the points of some programs over the same operands.
class CpuIndexFunction {
 public:
  CpuIndexFunction(const std::string& name, llvm::Module& module)
      : ir_(module.getContext()), function_(AddCpuEntry(name, module)) {
    ir_.SetInsertPoint(Block("entry"));
    begin_ = function_->getArg(2);
    end_ = function_->getArg(3);
  }

  void Emit(const IndexProgram& program) {
    const size_t results = program.last.results.size();
    IndexEmitter emitter(
        program, ir_,
        Addresses(ir_, function_->getArg(0), 0, program.operands.size()),
        Addresses(ir_, function_->getArg(1), results_, results));
    EmitPoints(program, emitter);
    results_ += results;
    llvm::Value* points = ir_.getInt64(NumPoints(program));
    begin_ = ir_.CreateSub(begin_, points);
    end_ = ir_.CreateSub(end_, points);
  }

  void Finish() { ir_.CreateRetVoid(); }

 private:
  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }

  // Those of [begin, end) that the program has.
  void EmitPoints(const IndexProgram& program, IndexEmitter& emitter) {
    llvm::Value* first = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                                   begin_, ir_.getInt64(0));
    llvm::Value* end = ir_.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, end_, ir_.getInt64(NumPoints(program)));
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* point = Block("point");
    llvm::BasicBlock* done = Block("done");
    ir_.CreateCondBr(ir_.CreateICmpSLT(first, end), point, done);

    ir_.SetInsertPoint(point);
    llvm::PHINode* i = ir_.CreatePHI(ir_.getInt64Ty(), 2, "i");
    i->addIncoming(first, before);
    std::vector<llvm::Value*> coordinates =
        LoopCoordinates(ir_, program.loops, i);
    for (llvm::Value*& coordinate : coordinates) {
      coordinate = ir_.CreateTrunc(coordinate, emitter.index_type());
    }
    emitter.EmitTile(IndexTile(), coordinates);
    llvm::Value* next = ir_.CreateAdd(i, ir_.getInt64(1));
    i->addIncoming(next, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpSLT(next, end), point, done);
    ir_.SetInsertPoint(done);
  }

  llvm::IRBuilder<> ir_;
  llvm::Function* const function_;
  size_t results_ = 0;            // of the programs so far
  llvm::Value* begin_ = nullptr;  // points of the next program
  llvm::Value* end_ = nullptr;
};

}  // namespace

void AddCpuIndexFunction(const IndexProgram& program, llvm::Module& module) {
  CpuIndexFunction function(program.name, module);
  function.Emit(program);
  function.Finish();
}

void AddCpuIndexFunction(const JoinedProgram& program, llvm::Module& module) {
  CpuIndexFunction function(program.name, module);
  for (const IndexProgram& part : program.parts) function.Emit(part);
  function.Finish();
}

}  // namespace partita
