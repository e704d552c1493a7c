// Index arithmetic, and vector loads, gathers and stores.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/cpu_function.h"

#include <vector>

#include "kernels/codegen/cpu_entry.h"
#include "kernels/codegen/instruction_emitter.h"
#include "kernels/vector/streaming.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace partita {
namespace {

class CpuFunction {
 public:
  CpuFunction(const ElementwiseProgram& program, unsigned lanes,
              llvm::Module& module)
      : program_(program),
        lanes_(lanes),
        ir_(module.getContext()),
        emitter_(ir_, lanes) {
    function_ = AddCpuEntry(program.name, module);
  }

  void Emit() {
    llvm::Value* begin = function_->getArg(2);
    end_ = function_->getArg(3);
    llvm::BasicBlock* entry = Block("entry");
    llvm::BasicBlock* line = Block("line");
    llvm::BasicBlock* done = Block("done");
    ir_.SetInsertPoint(entry);
    LoadPointers();
    ir_.CreateCondBr(ir_.CreateICmpSLT(begin, end_), line, done);

    ir_.SetInsertPoint(line);
    llvm::PHINode* index = ir_.CreatePHI(ir_.getInt64Ty(), 2, "index");
    index->addIncoming(begin, entry);
    llvm::Value* count = EmitLine(index);
    llvm::Value* next = ir_.CreateAdd(index, count);
    index->addIncoming(next, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpSLT(next, end_), line, done);

    ir_.SetInsertPoint(done);
    // Streaming stores are weakly ordered. The fence orders them before the
    // signal that the kernel has ended.
    if (may_stream_ != nullptr) {
      ir_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    }
    ir_.CreateRetVoid();
  }

 private:
  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }
  llvm::Value* I64(int64_t value) { return ir_.getInt64(value); }
  ScalarType ResultType(size_t result) const {
    return program_.instructions[program_.results[result]].type;
  }
  int64_t InnerStride(size_t operand) const {
    const std::vector<int64_t>& strides = program_.operands[operand].strides;
    return strides.empty() ? 0 : strides.back();
  }
  static llvm::Align AlignOf(llvm::Type* type) {
    return llvm::Align(type->getScalarSizeInBits() / 8);
  }

  void LoadPointers() {
    for (size_t i = 0; i < program_.operands.size(); ++i) {
      operands_.push_back(Pointer(/*argument=*/0, i));
    }
    for (size_t i = 0; i < program_.results.size(); ++i) {
      results_.push_back(Pointer(/*argument=*/1, i));
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      if (IsLarge(i)) may_stream_ = And(may_stream_, IsStoredApart(i));
    }
  }
  // Null means true.
  llvm::Value* And(llvm::Value* a, llvm::Value* b) {
    return a == nullptr ? b : ir_.CreateAnd(a, b);
  }
  int64_t ElementBytes(size_t result) const {
    return emitter_.MemoryType(ResultType(result))->getScalarSizeInBits() / 8;
  }
  bool IsLarge(size_t result) const {
    int64_t bytes = ElementBytes(result);
    for (int64_t extent : program_.loops) bytes *= extent;
    return bytes >= kLeastStreamedBytes;
  }
  // A result in place of an operand was just read into the caches: streaming it
  // would only evict it.
  llvm::Value* IsStoredApart(size_t result) {
    llvm::Value* apart = ir_.getTrue();
    for (llvm::Value* operand : operands_) {
      apart = And(apart, ir_.CreateICmpNE(operand, results_[result]));
    }
    return apart;
  }
  llvm::Value* Pointer(unsigned argument, size_t i) {
    return ir_.CreateLoad(
        ir_.getPtrTy(),
        ir_.CreateConstGEP1_64(ir_.getPtrTy(), function_->getArg(argument), i));
  }

  // Emits the results from `index` to the end of its line; returns their
  // number.
  llvm::Value* EmitLine(llvm::Value* index) {
    llvm::Value* left = ir_.CreateSub(end_, index);
    llvm::Value* count = left;
    llvm::Value* line = nullptr;
    llvm::Value* column = index;
    if (program_.loops.size() > 1) {
      llvm::Value* extent = I64(program_.loops.back());
      line = ir_.CreateUDiv(index, extent);
      column = ir_.CreateSub(index, ir_.CreateMul(line, extent));
      count = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin,
                                        ir_.CreateSub(extent, column), left);
    }
    FindLine(line, column);
    to_.clear();
    for (size_t i = 0; i < results_.size(); ++i) {
      to_.push_back(ir_.CreateGEP(emitter_.MemoryType(ResultType(i)),
                                  results_[i], index));
    }
    EmitVectors(count);
    return count;
  }

  // Sets `from_` to the operands' elements at the line's column, and `splats_`
  // for those that are constant along the line.
  void FindLine(llvm::Value* line, llvm::Value* column) {
    std::vector<llvm::Value*> coordinates(program_.loops.size());
    if (!coordinates.empty()) coordinates.back() = column;
    for (size_t loop = coordinates.size(); loop-- > 0;) {
      if (loop + 1 == coordinates.size()) continue;
      llvm::Value* extent = I64(program_.loops[loop]);
      coordinates[loop] = loop == 0 ? line : ir_.CreateURem(line, extent);
      if (loop > 0) line = ir_.CreateUDiv(line, extent);
    }
    from_.clear();
    splats_.assign(program_.operands.size(), nullptr);
    for (size_t i = 0; i < program_.operands.size(); ++i) {
      const ProgramOperand& operand = program_.operands[i];
      llvm::Value* offset = I64(0);
      for (size_t loop = 0; loop < coordinates.size(); ++loop) {
        if (operand.strides[loop] == 0) continue;
        offset = ir_.CreateAdd(
            offset,
            ir_.CreateMul(coordinates[loop], I64(operand.strides[loop])));
      }
      llvm::Type* type = emitter_.MemoryType(operand.type);
      from_.push_back(ir_.CreateGEP(type, operands_[i], offset));
      if (InnerStride(i) != 0) continue;
      llvm::Value* element =
          ir_.CreateAlignedLoad(type, from_[i], AlignOf(type));
      splats_[i] =
          ToRegister(operand.type, ir_.CreateVectorSplat(lanes_, element));
    }
  }

  void EmitVectors(llvm::Value* count) {
    llvm::Value* whole =
        ir_.CreateAnd(count, I64(-static_cast<int64_t>(lanes_)));
    llvm::BasicBlock* vectors = Block("vectors");
    llvm::BasicBlock* check = Block("check");
    llvm::BasicBlock* rest = Block("rest");
    llvm::BasicBlock* next = Block("next");
    ir_.CreateCondBr(ir_.CreateICmpNE(whole, I64(0)), vectors, check);

    ir_.SetInsertPoint(vectors);
    EmitWholeVectors(whole, check);

    ir_.SetInsertPoint(check);
    ir_.CreateCondBr(ir_.CreateICmpSLT(whole, count), rest, next);

    ir_.SetInsertPoint(rest);
    llvm::Value* left =
        ir_.CreateTrunc(ir_.CreateSub(count, whole), ir_.getInt32Ty());
    EmitBody(whole,
             ir_.CreateICmpULT(Numbers(ir_.getInt32Ty()),
                               ir_.CreateVectorSplat(lanes_, left)),
             Stores::kCached);
    ir_.CreateBr(next);
    ir_.SetInsertPoint(next);
  }

  enum class Stores : uint8_t { kCached, kStreamed };

  // Emits `whole` elements, at least one vector; then a branch to `next`.
  void EmitWholeVectors(llvm::Value* whole, llvm::BasicBlock* next) {
    if (may_stream_ == nullptr) {
      return EmitLoop(whole, Stores::kCached, next);
    }
    llvm::BasicBlock* streamed = Block("streamed");
    llvm::BasicBlock* cached = Block("cached");
    ir_.CreateCondBr(MayStreamLine(), streamed, cached);
    ir_.SetInsertPoint(streamed);
    EmitLoop(whole, Stores::kStreamed, next);
    ir_.SetInsertPoint(cached);
    EmitLoop(whole, Stores::kCached, next);
  }

  llvm::Value* MayStreamLine() {
    llvm::Value* may = may_stream_;
    for (size_t i = 0; i < to_.size(); ++i) {
      if (!IsLarge(i)) continue;
      llvm::Value* address = ir_.CreatePtrToInt(to_[i], ir_.getInt64Ty());
      llvm::Value* beyond =
          ir_.CreateAnd(address, I64(lanes_ * ElementBytes(i) - 1));
      may = And(may, ir_.CreateICmpEQ(beyond, I64(0)));
    }
    return may;
  }

  void EmitLoop(llvm::Value* whole, Stores stores, llvm::BasicBlock* next) {
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* loop = Block("loop");
    ir_.CreateBr(loop);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* j = ir_.CreatePHI(ir_.getInt64Ty(), 2, "j");
    j->addIncoming(I64(0), before);
    EmitBody(j, nullptr, stores);
    llvm::Value* after = ir_.CreateAdd(j, I64(lanes_));
    j->addIncoming(after, loop);
    ir_.CreateCondBr(ir_.CreateICmpSLT(after, whole), loop, next);
  }

  // 0, 1, 2, ...
  llvm::Value* Numbers(llvm::Type* type) {
    std::vector<llvm::Constant*> numbers;
    for (unsigned i = 0; i < lanes_; ++i) {
      numbers.push_back(llvm::ConstantInt::get(type, i));
    }
    return llvm::ConstantVector::get(numbers);
  }

  llvm::Value* ToRegister(ScalarType type, llvm::Value* memory) {
    if (type != ScalarType::kBool) return memory;
    return ir_.CreateICmpNE(memory,
                            llvm::Constant::getNullValue(memory->getType()));
  }

  // Loads `lanes` elements of an operand, from the line's element `j` on; all
  // of them if `mask` is null.
  llvm::Value* LoadOperand(size_t i, llvm::Value* j, llvm::Value* mask) {
    if (splats_[i] != nullptr) return splats_[i];
    const ScalarType scalar = program_.operands[i].type;
    llvm::Type* type = emitter_.MemoryType(scalar);
    llvm::Type* vector = emitter_.Lanes(type);
    llvm::Value* none = llvm::Constant::getNullValue(vector);
    if (InnerStride(i) == 1) {
      llvm::Value* at = ir_.CreateGEP(type, from_[i], j);
      return ToRegister(scalar,
                        mask == nullptr
                            ? ir_.CreateAlignedLoad(vector, at, AlignOf(type))
                            : static_cast<llvm::Value*>(ir_.CreateMaskedLoad(
                                  vector, at, AlignOf(type), mask, none)));
    }
    llvm::Value* position = ir_.CreateAdd(ir_.CreateVectorSplat(lanes_, j),
                                          Numbers(ir_.getInt64Ty()));
    llvm::Value* offset = ir_.CreateMul(
        position, ir_.CreateVectorSplat(lanes_, I64(InnerStride(i))));
    llvm::Value* all = ir_.CreateVectorSplat(lanes_, ir_.getTrue());
    return ToRegister(scalar,
                      ir_.CreateMaskedGather(
                          vector, ir_.CreateGEP(type, from_[i], offset),
                          AlignOf(type), mask == nullptr ? all : mask, none));
  }

  void EmitBody(llvm::Value* j, llvm::Value* mask, Stores stores) {
    const std::vector<llvm::Value*> values =
        emitter_.Emit(program_, [&](int operand) {
          return LoadOperand(static_cast<size_t>(operand), j, mask);
        });
    for (size_t i = 0; i < values.size(); ++i) {
      StoreResult(i, values[i], j, mask, stores);
    }
  }

  void StoreResult(size_t i, llvm::Value* value, llvm::Value* j,
                   llvm::Value* mask, Stores stores) {
    llvm::Type* type = emitter_.MemoryType(ResultType(i));
    if (ResultType(i) == ScalarType::kBool) {
      value = ir_.CreateZExt(value, emitter_.Lanes(type));
    }
    llvm::Value* at = ir_.CreateGEP(type, to_[i], j);
    if (mask != nullptr) {
      ir_.CreateMaskedStore(value, at, AlignOf(type), mask);
    } else if (stores == Stores::kStreamed && IsLarge(i)) {
      Stream(value, at, llvm::Align(lanes_ * ElementBytes(i)));
    } else {
      ir_.CreateAlignedStore(value, at, AlignOf(type));
    }
  }

  void Stream(llvm::Value* value, llvm::Value* at, llvm::Align align) {
    llvm::Metadata* one = llvm::ConstantAsMetadata::get(ir_.getInt32(1));
    ir_.CreateAlignedStore(value, at, align)
        ->setMetadata(llvm::LLVMContext::MD_nontemporal,
                      llvm::MDNode::get(ir_.getContext(), one));
  }

  const ElementwiseProgram& program_;
  const unsigned lanes_;
  llvm::IRBuilder<> ir_;
  InstructionEmitter emitter_;
  llvm::Function* function_ = nullptr;
  llvm::Value* end_ = nullptr;
  std::vector<llvm::Value*> operands_;
  std::vector<llvm::Value*> results_;
  // True if no large result overlaps an operand; null if no result is large.
  llvm::Value* may_stream_ = nullptr;
  std::vector<llvm::Value*> from_;    // operands, at the line's first element
  std::vector<llvm::Value*> splats_;  // or null
  std::vector<llvm::Value*> to_;      // results, at the line's first element
};

}  // namespace

void AddCpuFunction(const ElementwiseProgram& program, unsigned lanes,
                    llvm::Module& module) {
  CpuFunction(program, lanes, module).Emit();
}

}  // namespace partita
