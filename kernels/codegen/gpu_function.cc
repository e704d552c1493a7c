// Index arithmetic, and accesses of groups and of single elements.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_function.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kernels/codegen/gpu_access.h"
#include "kernels/codegen/gpu_entry.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/gpu_threads.h"
#include "kernels/codegen/instruction_emitter.h"
#include "kernels/codegen/keep_loop.h"
#include "kernels/codegen/loop_index.h"
#include "llvm/IR/IRBuilder.h"

namespace partita {
namespace {

class GpuFunction {
 public:
  GpuFunction(const ElementwiseProgram& program, llvm::Module& module)
      : program_(program),
        count_(NumElements(program)),
        group_(GroupElements(program)),
        ir_(module.getContext()),
        emitter_(ir_, /*lanes=*/1),
        access_(ir_, emitter_) {
    function_ = AddGpuEntry(
        program.name, program.operands.size() + program.results.size(),
        GpuThreads::kAtMost, kGpuBlockThreads, ThreadWords(program), module);
    index_type_ = CountsIn32Bits() ? ir_.getInt32Ty() : ir_.getInt64Ty();
  }

  void Emit() {
    llvm::BasicBlock* entry = Block("entry");
    llvm::BasicBlock* groups = Block("groups");
    llvm::BasicBlock* elements = Block("elements");
    llvm::BasicBlock* done = Block("done");
    ir_.SetInsertPoint(entry);
    ReadParameters();
    const int64_t whole = count_ / group_;
    if (group_ == 1 || whole == 0) {
      ir_.CreateBr(elements);
      groups->eraseFromParent();
      ir_.SetInsertPoint(elements);
      EmitLoop(Index(0), count_, /*lanes=*/1, done);
    } else {
      ir_.CreateCondBr(EveryGroupIsAligned(), groups, elements);
      ir_.SetInsertPoint(groups);
      llvm::BasicBlock* rest = Block("rest");
      EmitLoop(Index(0), whole, group_, rest);
      ir_.SetInsertPoint(rest);
      ir_.CreateBr(whole * group_ == count_ ? done : elements);
      ir_.SetInsertPoint(elements);
      llvm::PHINode* first = ir_.CreatePHI(index_type_, 2, "first");
      first->addIncoming(Index(0), entry);
      if (whole * group_ != count_) {
        first->addIncoming(Index(whole * group_), rest);
      }
      EmitLoop(first, count_, /*lanes=*/1, done);
    }
    ir_.SetInsertPoint(done);
    ir_.CreateRetVoid();
  }

 private:
  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }
  llvm::Value* Index(int64_t value) {
    return llvm::ConstantInt::get(index_type_, value);
  }
  ScalarType ResultType(size_t result) const {
    return program_.instructions[program_.results[result]].type;
  }

  // Division of 64 bits takes several times as long. Indices and offsets stay
  // below kMostGpuThreads, so that a step further does not wrap.
  bool CountsIn32Bits() const {
    const auto is_near = [](int64_t offset) {
      return offset <= kMostGpuThreads;
    };
    return is_near(count_) &&
           std::all_of(program_.operands.begin(), program_.operands.end(),
                       [&](const ProgramOperand& operand) {
                         return is_near(FurthestOffset(operand));
                       });
  }
  int64_t FurthestOffset(const ProgramOperand& operand) const {
    int64_t offset = 0;
    for (size_t loop = 0; loop < program_.loops.size(); ++loop) {
      offset += (program_.loops[loop] - 1) * operand.strides[loop];
    }
    return offset;
  }

  void ReadParameters() {
    SplitParameters(ir_, *function_, program_.operands.size(), operands_,
                    results_);
    const auto index = [&](llvm::Value* value) {
      return ir_.CreateZExt(value, index_type_);
    };
    llvm::Value* threads = index(GpuBlockThreads(ir_));
    llvm::Value* block = index(GpuBlock(ir_));
    llvm::Value* thread = index(GpuThread(ir_));
    llvm::Value* blocks = index(GpuBlocks(ir_));
    thread_ = ir_.CreateAdd(ir_.CreateMul(block, threads), thread);
    threads_ = ir_.CreateMul(blocks, threads);
  }

  // True if the addresses of all accesses of kNeighbours are multiples of their
  // sizes.
  llvm::Value* EveryGroupIsAligned() {
    std::vector<GpuAccess::Array> arrays;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const ProgramOperand& operand = program_.operands[i];
      if (GroupAccessOf(operand, group_) == GroupAccess::kNeighbours) {
        arrays.push_back({operands_[i], operand.type});
      }
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      arrays.push_back({results_[i], ResultType(i)});
    }
    return access_.GroupsAreAligned(arrays, group_);
  }

  // for (i = first + thread; i < end; i += threads) compute the `lanes`
  // elements from i * lanes on; then a branch to `next`.
  void EmitLoop(llvm::Value* first, int64_t end, int lanes,
                llvm::BasicBlock* next) {
    llvm::Value* begin = ir_.CreateAdd(first, thread_);
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* loop = Block("loop");
    ir_.CreateCondBr(ir_.CreateICmpULT(begin, Index(end)), loop, next);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* i = ir_.CreatePHI(index_type_, 2, "i");
    i->addIncoming(begin, before);
    EmitElements(ir_.CreateMul(i, Index(lanes)), lanes);
    llvm::Value* after = ir_.CreateAdd(i, threads_);
    i->addIncoming(after, loop);
    llvm::BranchInst* back =
        ir_.CreateCondBr(ir_.CreateICmpULT(after, Index(end)), loop, next);
    if (!MayUnroll(ThreadWords(program_))) KeepLoop(*back);
  }

  void EmitElements(llvm::Value* index, int lanes) {
    const std::vector<llvm::Value*> coordinates =
        LoopCoordinates(ir_, program_.loops, index);
    // By operand, then by lane.
    std::vector<std::vector<llvm::Value*>> loaded;
    for (size_t i = 0; i < operands_.size(); ++i) {
      loaded.push_back(LoadLanes(i, index, coordinates, lanes));
    }
    // By result, then by lane.
    std::vector<std::vector<llvm::Value*>> computed(results_.size());
    for (int lane = 0; lane < lanes; ++lane) {
      const std::vector<llvm::Value*> values =
          emitter_.Emit(program_, [&](int operand) {
            return access_.ToRegister(program_.operands[operand].type,
                                      loaded[operand][lane]);
          });
      for (size_t i = 0; i < values.size(); ++i) {
        computed[i].push_back(access_.ToMemory(ResultType(i), values[i]));
      }
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      access_.Store(ResultType(i), computed[i], results_[i], index);
    }
  }

  bool IsDense(const ProgramOperand& operand) const {
    int64_t stride = 1;
    for (size_t loop = program_.loops.size(); loop-- > 0;) {
      if (operand.strides[loop] != stride) return false;
      stride *= program_.loops[loop];
    }
    return true;
  }

  llvm::Value* Offset(const ProgramOperand& operand, llvm::Value* index,
                      const std::vector<llvm::Value*>& coordinates) {
    if (IsDense(operand)) return index;
    return LoopOffset(ir_, index_type_, coordinates, operand.strides);
  }

  // The elements of an operand as they are in memory.
  std::vector<llvm::Value*> LoadLanes(
      size_t i, llvm::Value* index,
      const std::vector<llvm::Value*>& coordinates, int lanes) {
    const ProgramOperand& operand = program_.operands[i];
    llvm::Value* offset = Offset(operand, index, coordinates);
    const auto load = [&](llvm::Value* at) {
      return access_.Load(operand.type, operands_[i], at, /*lanes=*/1)[0];
    };
    switch (GroupAccessOf(operand, lanes)) {
      case GroupAccess::kOnce:
        return std::vector<llvm::Value*>(lanes, load(offset));
      case GroupAccess::kNeighbours:
        return access_.Load(operand.type, operands_[i], offset, lanes);
      case GroupAccess::kEach:
        break;
    }
    std::vector<llvm::Value*> values;
    for (int lane = 0; lane < lanes; ++lane) {
      values.push_back(
          load(ir_.CreateAdd(offset, Index(lane * operand.strides.back()))));
    }
    return values;
  }

  const ElementwiseProgram& program_;
  const int64_t count_;
  const int group_;
  llvm::IRBuilder<> ir_;
  InstructionEmitter emitter_;
  GpuAccess access_;
  llvm::Function* function_ = nullptr;
  llvm::Type* index_type_ = nullptr;
  llvm::Value* thread_ = nullptr;   // the number of this thread in the launch
  llvm::Value* threads_ = nullptr;  // of the launch
  std::vector<llvm::Value*> operands_;
  std::vector<llvm::Value*> results_;
};

}  // namespace

void AddGpuFunction(const ElementwiseProgram& program, llvm::Module& module) {
  GpuFunction(program, module).Emit();
}

}  // namespace partita
