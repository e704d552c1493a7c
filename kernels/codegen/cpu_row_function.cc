// Loops over rows and their vectors, and joins of accumulators.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/cpu_row_function.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/codegen/cpu_entry.h"
#include "kernels/codegen/instruction_emitter.h"
#include "kernels/codegen/loop_index.h"
#include "llvm/IR/IRBuilder.h"

namespace partita {
namespace {

class CpuRowFunction {
 public:
  CpuRowFunction(const RowProgram& program, unsigned lanes,
                 llvm::Module& module)
      : program_(program),
        length_(RowLength(program)),
        accumulators_(NumAccumulators(length_)),
        lanes_(std::min<int64_t>(lanes, accumulators_)),
        result_types_(ResultTypes(program)),
        ir_(module.getContext()),
        emitter_(ir_, static_cast<unsigned>(lanes_)),
        scalar_emitter_(ir_, /*lanes=*/1),
        function_(AddCpuEntry(program.name, module)) {}

  void Emit() {
    llvm::BasicBlock* entry = Block("entry");
    llvm::BasicBlock* rows = Block("rows");
    llvm::BasicBlock* done = Block("done");
    ir_.SetInsertPoint(entry);
    LoadPointers();
    ReserveAccumulators();
    llvm::Value* begin = function_->getArg(2);
    llvm::Value* end = function_->getArg(3);
    ir_.CreateCondBr(ir_.CreateICmpSLT(begin, end), rows, done);

    ir_.SetInsertPoint(rows);
    llvm::PHINode* row = ir_.CreatePHI(ir_.getInt64Ty(), 2, "row");
    row->addIncoming(begin, entry);
    EmitRow(row);
    llvm::Value* next = ir_.CreateAdd(row, I64(1));
    row->addIncoming(next, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpSLT(next, end), rows, done);

    ir_.SetInsertPoint(done);
    ir_.CreateRetVoid();
  }

 private:
  using Values = std::vector<llvm::Value*>;

  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }
  llvm::Value* I64(int64_t value) { return ir_.getInt64(value); }
  static llvm::Align AlignOf(llvm::Type* type) {
    return llvm::Align(type->getScalarSizeInBits() / 8);
  }
  llvm::Value* Splat(llvm::Value* scalar) {
    return lanes_ == 1
               ? scalar
               : ir_.CreateVectorSplat(static_cast<unsigned>(lanes_), scalar);
  }
  // 0, 1, 2, ...
  llvm::Value* Numbers() {
    if (lanes_ == 1) return I64(0);
    std::vector<uint64_t> numbers;
    for (int64_t i = 0; i < lanes_; ++i) numbers.push_back(i);
    return llvm::ConstantDataVector::get(ir_.getContext(), numbers);
  }

  void LoadPointers() {
    const auto load = [&](unsigned argument, size_t i) {
      return ir_.CreateLoad(
          ir_.getPtrTy(), ir_.CreateConstGEP1_64(
                              ir_.getPtrTy(), function_->getArg(argument), i));
    };
    for (size_t i = 0; i < program_.operands.size(); ++i) {
      operands_.push_back(load(/*argument=*/0, i));
    }
    for (size_t i = 0; i < result_types_.size(); ++i) {
      results_.push_back(load(/*argument=*/1, i));
    }
  }

  // Of the phase with the most reductions.
  void ReserveAccumulators() {
    constexpr uint64_t kWidestElement = 8;
    size_t most = 0;
    for (const RowPhase& phase : program_.phases) {
      most = std::max(most, phase.combiners.size());
    }
    for (size_t i = 0; i < most; ++i) {
      llvm::AllocaInst* bytes = ir_.CreateAlloca(llvm::ArrayType::get(
          ir_.getInt8Ty(), accumulators_ * kWidestElement));
      bytes->setAlignment(llvm::Align(64));
      totals_.push_back(bytes);
    }
  }

  void EmitRow(llvm::Value* row) {
    FindRow(row);
    scalars_.clear();
    splats_.clear();
    for (const RowPhase& phase : program_.phases) EmitPhase(phase);
    if (!program_.elements.results.empty()) {
      ForEachVector([&](llvm::Value* j, llvm::Value* mask) {
        const Values values = EmitElements(program_.elements, j, mask);
        for (size_t i = 0; i < values.size(); ++i) {
          StoreElements(i, values[i], row, j, mask);
        }
      });
    }
    const size_t first = program_.elements.results.size();
    for (size_t i = first; i < result_types_.size(); ++i) {
      StoreScalar(i, scalars_[program_.row_results[i - first]], row);
    }
  }

  // Sets `from_` to the operands' first elements of the row, and `constants_`
  // to those that are the same for all of it.
  void FindRow(llvm::Value* row) {
    const Values coordinates = LoopCoordinates(ir_, program_.rows, row);
    from_.clear();
    constants_.assign(program_.operands.size(), nullptr);
    for (size_t i = 0; i < program_.operands.size(); ++i) {
      const ProgramOperand& operand = program_.operands[i];
      llvm::Type* type = emitter_.MemoryType(operand.type);
      from_.push_back(
          ir_.CreateGEP(type, operands_[i],
                        LoopOffset(ir_, ir_.getInt64Ty(), coordinates,
                                   RowStrides(program_, operand))));
      if (IsRowConstant(program_, operand)) {
        constants_[i] = ToRegister(
            operand.type, ir_.CreateAlignedLoad(type, from_[i], AlignOf(type)));
      }
    }
    constant_splats_ = constants_;
    for (llvm::Value*& constant : constant_splats_) {
      if (constant != nullptr) constant = Splat(constant);
    }
  }

  void EmitPhase(const RowPhase& phase) {
    const ProgramBody& body = phase.elements;
    std::vector<ScalarType> types;
    for (int32_t result : body.results) {
      types.push_back(body.instructions[result].type);
    }
    for (size_t r = 0; r < types.size(); ++r) {
      StartAccumulators(r, types[r], phase.combiners[r]);
    }
    ForEachVector([&](llvm::Value* j, llvm::Value* mask) {
      const Values values = EmitElements(body, j, mask);
      for (size_t r = 0; r < values.size(); ++r) {
        Accumulate(r, types[r], phase.combiners[r], values[r], j, mask);
      }
    });
    for (size_t r = 0; r < types.size(); ++r) {
      AddScalar(JoinAccumulators(r, types[r], phase.combiners[r]));
    }
    const Values scalars = scalar_emitter_.Emit(phase.scalars, [&](int number) {
      return ReadNumber(number, constants_, scalars_);
    });
    for (llvm::Value* scalar : scalars) AddScalar(scalar);
  }
  void AddScalar(llvm::Value* scalar) {
    scalars_.push_back(scalar);
    splats_.push_back(Splat(scalar));
  }
  // An operand that is the same for a whole row, or a row scalar.
  llvm::Value* ReadNumber(int number, const Values& constants,
                          const Values& scalars) const {
    const size_t operands = program_.operands.size();
    const size_t at = static_cast<size_t>(number);
    return at < operands ? constants[at] : scalars[at - operands];
  }

  // for (j = 0; j < length; j += lanes) emit(j, mask): null masks nothing.
  void ForEachVector(
      const std::function<void(llvm::Value* j, llvm::Value* mask)>& emit) {
    const int64_t whole = length_ / lanes_ * lanes_;
    Loop(whole, lanes_, [&](llvm::Value* j) { emit(j, nullptr); });
    if (whole < length_) {
      emit(I64(whole),
           ir_.CreateICmpULT(Numbers(), Splat(I64(length_ - whole))));
    }
  }
  // for (j = 0; j < end; j += step) emit(j), at least once.
  void Loop(int64_t end, int64_t step,
            const std::function<void(llvm::Value* j)>& emit) {
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* loop = Block("loop");
    llvm::BasicBlock* next = Block("next");
    ir_.CreateBr(loop);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* j = ir_.CreatePHI(ir_.getInt64Ty(), 2, "j");
    j->addIncoming(I64(0), before);
    emit(j);
    llvm::Value* after = ir_.CreateAdd(j, I64(step));
    j->addIncoming(after, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpULT(after, I64(end)), loop, next);
    ir_.SetInsertPoint(next);
  }

  Values EmitElements(const ProgramBody& body, llvm::Value* j,
                      llvm::Value* mask) {
    const auto load = [&](int number) {
      const size_t operand = static_cast<size_t>(number);
      if (operand < operands_.size() && constants_[operand] == nullptr) {
        return LoadElements(operand, j, mask);
      }
      return ReadNumber(number, constant_splats_, splats_);
    };
    return emitter_.Emit(body, load);
  }

  // True if the elements of a vector are on one line of the innermost loop.
  bool VectorsAreOnLines() const {
    return program_.columns.size() == 1 ||
           program_.columns.back() % lanes_ == 0;
  }

  llvm::Value* LoadElements(size_t i, llvm::Value* j, llvm::Value* mask) {
    const ProgramOperand& operand = program_.operands[i];
    llvm::Type* type = emitter_.MemoryType(operand.type);
    const int64_t inner = operand.strides.back();
    llvm::Value* loaded = nullptr;
    if (VectorsAreOnLines() && inner == 1) {
      loaded = LoadVector(type, Element(i, j), mask);
    } else if (VectorsAreOnLines() && inner == 0) {
      loaded = Splat(ir_.CreateAlignedLoad(type, Element(i, j), AlignOf(type)));
    } else {
      llvm::Value* at = ir_.CreateAdd(Splat(j), Numbers());
      loaded = Gather(type, Element(i, at), mask);
    }
    return ToRegister(operand.type, loaded);
  }
  // The address of a row's element `index`, or the addresses of several.
  llvm::Value* Element(size_t i, llvm::Value* index) {
    const ProgramOperand& operand = program_.operands[i];
    llvm::Value* offset = LoopOffset(
        ir_, index->getType(), LoopCoordinates(ir_, program_.columns, index),
        ColumnStrides(program_, operand));
    return ir_.CreateGEP(emitter_.MemoryType(operand.type), from_[i], offset);
  }
  llvm::Value* LoadVector(llvm::Type* type, llvm::Value* at,
                          llvm::Value* mask) {
    llvm::Type* vector = emitter_.Lanes(type);
    if (mask == nullptr) {
      return ir_.CreateAlignedLoad(vector, at, AlignOf(type));
    }
    return ir_.CreateMaskedLoad(vector, at, AlignOf(type), mask,
                                llvm::Constant::getNullValue(vector));
  }
  llvm::Value* Gather(llvm::Type* type, llvm::Value* at, llvm::Value* mask) {
    llvm::Type* vector = emitter_.Lanes(type);
    if (lanes_ == 1) return ir_.CreateAlignedLoad(vector, at, AlignOf(type));
    return ir_.CreateMaskedGather(vector, at, AlignOf(type),
                                  mask == nullptr ? Splat(ir_.getTrue()) : mask,
                                  llvm::Constant::getNullValue(vector));
  }

  // Reductions.

  llvm::Value* Slot(size_t r, ScalarType type, llvm::Value* at) {
    return ir_.CreateGEP(emitter_.MemoryType(type), totals_[r], at);
  }
  llvm::Value* ReadAccumulators(size_t r, ScalarType type, llvm::Value* at) {
    llvm::Type* element = emitter_.MemoryType(type);
    return ir_.CreateAlignedLoad(emitter_.Lanes(element), Slot(r, type, at),
                                 AlignOf(element));
  }
  void WriteAccumulators(size_t r, ScalarType type, llvm::Value* at,
                         llvm::Value* values) {
    ir_.CreateAlignedStore(values, Slot(r, type, at),
                           AlignOf(emitter_.MemoryType(type)));
  }
  llvm::Value* Combine(Combiner combiner, ScalarType type, llvm::Value* a,
                       llvm::Value* b) {
    return emitter_.Emit(BodyOf(combiner, type),
                         [&](int number) { return number == 0 ? a : b; })[0];
  }

  void StartAccumulators(size_t r, ScalarType type, Combiner combiner) {
    const Instruction start = {.op = Opcode::kConstant,
                               .type = type,
                               .bits = StartBits(combiner, type)};
    llvm::Value* values =
        emitter_.Emit({.instructions = {start}, .results = {0}}, {})[0];
    Loop(accumulators_, lanes_,
         [&](llvm::Value* at) { WriteAccumulators(r, type, at, values); });
  }

  void Accumulate(size_t r, ScalarType type, Combiner combiner,
                  llvm::Value* values, llvm::Value* j, llvm::Value* mask) {
    llvm::Value* at = ir_.CreateAnd(j, I64(accumulators_ - 1));
    llvm::Value* before = ReadAccumulators(r, type, at);
    llvm::Value* after = Combine(combiner, type, before, values);
    if (mask != nullptr) after = ir_.CreateSelect(mask, after, before);
    WriteAccumulators(r, type, at, after);
  }

  llvm::Value* JoinAccumulators(size_t r, ScalarType type, Combiner combiner) {
    // In place: what is written was read.
    for (int64_t count = accumulators_; count > lanes_; count /= 2) {
      Loop(count / 2, lanes_, [&](llvm::Value* at) {
        llvm::Value* first = ir_.CreateShl(at, 1);
        llvm::Value* low = ReadAccumulators(r, type, first);
        llvm::Value* high =
            ReadAccumulators(r, type, ir_.CreateAdd(first, I64(lanes_)));
        WriteAccumulators(r, type, at,
                          JoinNeighbours(combiner, type, low, high));
      });
    }
    llvm::Value* values = ReadAccumulators(r, type, I64(0));
    if (lanes_ == 1) return values;
    for (int64_t count = lanes_; count > 1; count /= 2) {
      values = JoinNeighbours(combiner, type, values, nullptr);
    }
    return ir_.CreateExtractElement(values, uint64_t{0});
  }
  // Of a vector, or of one behind another.
  llvm::Value* JoinNeighbours(Combiner combiner, ScalarType type,
                              llvm::Value* low, llvm::Value* high) {
    const auto* vector = llvm::cast<llvm::FixedVectorType>(low->getType());
    const int count =
        static_cast<int>(vector->getNumElements()) * (high == nullptr ? 1 : 2);
    if (high == nullptr) high = llvm::PoisonValue::get(low->getType());
    const auto every_second = [&](int first) {
      std::vector<int> from;
      for (int i = first; i < count; i += 2) from.push_back(i);
      return ir_.CreateShuffleVector(low, high, from);
    };
    return Combine(combiner, type, every_second(0), every_second(1));
  }

  // Results.

  llvm::Value* ToRegister(ScalarType type, llvm::Value* memory) {
    if (type != ScalarType::kBool) return memory;
    return ir_.CreateICmpNE(memory,
                            llvm::Constant::getNullValue(memory->getType()));
  }
  void StoreElements(size_t i, llvm::Value* values, llvm::Value* row,
                     llvm::Value* j, llvm::Value* mask) {
    llvm::Type* type = emitter_.MemoryType(result_types_[i]);
    values = ir_.CreateZExtOrBitCast(values, emitter_.Lanes(type));
    llvm::Value* at = ir_.CreateGEP(
        type, results_[i], ir_.CreateAdd(ir_.CreateMul(row, I64(length_)), j));
    if (mask == nullptr) {
      ir_.CreateAlignedStore(values, at, AlignOf(type));
    } else {
      ir_.CreateMaskedStore(values, at, AlignOf(type), mask);
    }
  }
  void StoreScalar(size_t i, llvm::Value* value, llvm::Value* row) {
    llvm::Type* type = emitter_.MemoryType(result_types_[i]);
    ir_.CreateAlignedStore(ir_.CreateZExtOrBitCast(value, type),
                           ir_.CreateGEP(type, results_[i], row),
                           AlignOf(type));
  }

  const RowProgram& program_;
  const int64_t length_;
  const int64_t accumulators_;
  const int64_t lanes_;
  const std::vector<ScalarType> result_types_;
  llvm::IRBuilder<> ir_;
  InstructionEmitter emitter_;         // over elements
  InstructionEmitter scalar_emitter_;  // over row scalars
  llvm::Function* function_;
  Values operands_;
  Values results_;
  Values totals_;           // the accumulators of each reduction of a phase
  Values from_;             // operands, at the row's first element
  Values constants_;        // an operand that a row has once, or null
  Values constant_splats_;  // the same in all lanes
  Values scalars_;          // of the row, as far as they are known
  Values splats_;           // the same in all lanes
};

}  // namespace

void AddCpuRowFunction(const RowProgram& program, unsigned lanes,
                       llvm::Module& module) {
  CpuRowFunction(program, lanes, module).Emit();
}

}  // namespace partita
