// Loops over rows and groups.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_row_function.h"

#include <functional>
#include <vector>

#include "kernels/codegen/emit_if.h"
#include "kernels/codegen/gpu_access.h"
#include "kernels/codegen/gpu_entry.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/gpu_row_join.h"
#include "kernels/codegen/gpu_threads.h"
#include "kernels/codegen/instruction_emitter.h"
#include "kernels/codegen/keep_loop.h"
#include "kernels/codegen/loop_index.h"
#include "llvm/IR/IRBuilder.h"

namespace partita {
namespace {

class GpuRowFunction {
 public:
  GpuRowFunction(const RowProgram& program, llvm::Module& module)
      : program_(program),
        num_rows_(NumRows(program)),
        length_(RowLength(program)),
        shape_(RowShapeOf(program)),
        result_types_(ResultTypes(program)),
        ir_(module.getContext()),
        emitter_(ir_, /*lanes=*/1),
        access_(ir_, emitter_),
        function_(AddGpuEntry(program.name,
                              program.operands.size() + result_types_.size(),
                              GpuThreads::kExactly, shape_.block_threads(),
                              ThreadWords(program), module)),
        join_(program, shape_, *function_, ir_, emitter_) {
    // Division of 64 bits takes several times as long.
    index_type_ = GreatestIndex(program) <= kMostGpuThreads ? ir_.getInt32Ty()
                                                            : ir_.getInt64Ty();
    for (const ProgramOperand& operand : program.operands) {
      row_strides_.push_back(RowStrides(program, operand));
      column_strides_.push_back(ColumnStrides(program, operand));
      is_constant_.push_back(IsRowConstant(program, operand));
    }
  }

  void Emit() {
    ir_.SetInsertPoint(Block("entry"));
    llvm::BasicBlock* done = Block("done");
    SplitParameters(ir_, *function_, program_.operands.size(), operands_,
                    results_);
    FindThread();
    if (num_rows_ == 0) {
      ir_.CreateBr(done);
    } else if (shape_.group > 1 && HasWholeGroups(program_)) {
      llvm::BasicBlock* groups = Block("groups");
      llvm::BasicBlock* elements = Block("elements");
      ir_.CreateCondBr(EveryGroupIsAligned(), groups, elements);
      ir_.SetInsertPoint(groups);
      EmitRows(Accesses::kGroups, done);
      ir_.SetInsertPoint(elements);
      EmitRows(Accesses::kElements, done);
    } else {
      EmitRows(Accesses::kElements, done);
    }
    ir_.SetInsertPoint(done);
    ir_.CreateRetVoid();
  }

 private:
  using Values = std::vector<llvm::Value*>;
  enum class Accesses : uint8_t { kGroups, kElements };

  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }
  llvm::Value* Index(int64_t value) {
    return llvm::ConstantInt::get(index_type_, value);
  }

  void FindThread() {
    thread_ = GpuThread(ir_);
    join_.FindLane(thread_);
    row_of_block_ = ir_.CreateZExt(
        ir_.CreateUDiv(thread_, ir_.getInt32(shape_.row_threads)), index_type_);
    row_thread_ = ir_.CreateAnd(thread_, ir_.getInt32(shape_.row_threads - 1));
    first_group_ = ir_.CreateZExt(row_thread_, index_type_);
  }

  // True if the accesses of whole groups are aligned.
  llvm::Value* EveryGroupIsAligned() {
    std::vector<GpuAccess::Array> arrays;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const ProgramOperand& operand = program_.operands[i];
      if (!is_constant_[i] &&
          GroupAccessOf(operand, shape_.group) == GroupAccess::kNeighbours) {
        arrays.push_back({operands_[i], operand.type});
      }
    }
    for (size_t i = 0; i < program_.elements.results.size(); ++i) {
      arrays.push_back({results_[i], result_types_[i]});
    }
    return access_.GroupsAreAligned(arrays, shape_.group);
  }

  // The rows of this block, then a branch to `next`. All threads take
  // equally many rounds, since they wait for each other in shuffles and at
  // barriers: those without a row of their own compute the last one and store
  // nothing.
  void EmitRows(Accesses accesses, llvm::BasicBlock* next) {
    const auto rows_of = [&](llvm::Value* blocks) {
      return ir_.CreateMul(ir_.CreateZExt(blocks, index_type_),
                           Index(shape_.block_rows));
    };
    accesses_ = accesses;
    llvm::Value* begin = rows_of(GpuBlock(ir_));
    llvm::Value* step = rows_of(GpuBlocks(ir_));
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* loop = Block("rows");
    ir_.CreateCondBr(ir_.CreateICmpULT(begin, Index(num_rows_)), loop, next);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* first = ir_.CreatePHI(index_type_, 2, "first_row");
    first->addIncoming(begin, before);
    EmitRow(ir_.CreateAdd(first, row_of_block_));
    llvm::Value* after = ir_.CreateAdd(first, step);
    first->addIncoming(after, ir_.GetInsertBlock());
    ir_.CreateCondBr(ir_.CreateICmpULT(after, Index(num_rows_)), loop, next);
  }

  void EmitRow(llvm::Value* row) {
    const bool may_exceed = num_rows_ % shape_.block_rows != 0;
    llvm::Value* exists =
        may_exceed ? ir_.CreateICmpULT(row, Index(num_rows_)) : nullptr;
    if (may_exceed) {
      row = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row,
                                      Index(num_rows_ - 1));
    }
    FindRow(row);
    scalars_.clear();
    join_.BeginRow();
    for (const RowPhase& phase : program_.phases) EmitPhase(phase);
    EmitIf(ir_, exists, [&] { StoreRow(row); });
    join_.EndRow();
  }

  // Sets the operands' offsets of the row, and the elements of those that are
  // the same for all of it.
  void FindRow(llvm::Value* row) {
    const Values coordinates = LoopCoordinates(ir_, program_.rows, row);
    row_offsets_.clear();
    constants_.assign(operands_.size(), nullptr);
    for (size_t i = 0; i < operands_.size(); ++i) {
      row_offsets_.push_back(
          LoopOffset(ir_, index_type_, coordinates, row_strides_[i]));
      if (is_constant_[i]) constants_[i] = LoadOne(i, row_offsets_[i]);
    }
    first_element_ = ir_.CreateMul(row, Index(length_));
  }

  llvm::Value* LoadOne(size_t i, llvm::Value* at) {
    const ScalarType type = program_.operands[i].type;
    return access_.ToRegister(
        type, access_.Load(type, operands_[i], at, /*count=*/1)[0]);
  }
  llvm::Value* OffsetOf(size_t i, const Values& coordinates) {
    return ir_.CreateAdd(
        row_offsets_[i],
        LoopOffset(ir_, index_type_, coordinates, column_strides_[i]));
  }

  // A group of elements of the row that has all or, of the last group of a row,
  // some elements.
  struct Group {
    llvm::Value* first;               // element
    Values exists;                    // by element; null: it does
    std::vector<Values> coordinates;  // by element; one for whole groups
  };
  Group GroupAt(llvm::Value* number) {
    Group group{.first = ir_.CreateMul(number, Index(shape_.group)),
                .exists = Values(shape_.group, nullptr)};
    const bool may_exceed = length_ % shape_.group != 0;
    for (int lane = 0; lane < shape_.group; ++lane) {
      llvm::Value* element = ir_.CreateAdd(group.first, Index(lane));
      if (may_exceed) {
        group.exists[lane] = ir_.CreateICmpULT(element, Index(length_));
        element = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, element,
                                            Index(length_ - 1));
      }
      group.coordinates.push_back(
          LoopCoordinates(ir_, program_.columns, element));
      if (accesses_ == Accesses::kGroups) break;
    }
    return group;
  }

  // The elements of an operand, as registers.
  Values LoadGroup(size_t i, const Group& group) {
    const ScalarType type = program_.operands[i].type;
    Values elements;
    if (accesses_ == Accesses::kElements) {
      for (const Values& coordinates : group.coordinates) {
        elements.push_back(LoadOne(i, OffsetOf(i, coordinates)));
      }
      return elements;
    }
    llvm::Value* offset = OffsetOf(i, group.coordinates[0]);
    switch (GroupAccessOf(program_.operands[i], shape_.group)) {
      case GroupAccess::kOnce:
        return Values(shape_.group, LoadOne(i, offset));
      case GroupAccess::kNeighbours:
        elements = access_.Load(type, operands_[i], offset, shape_.group);
        for (llvm::Value*& element : elements) {
          element = access_.ToRegister(type, element);
        }
        return elements;
      case GroupAccess::kEach:
        break;
    }
    for (int lane = 0; lane < shape_.group; ++lane) {
      elements.push_back(LoadOne(
          i, ir_.CreateAdd(offset, Index(lane * column_strides_[i].back()))));
    }
    return elements;
  }

  // The body's results for each element of a group: by result, then by element.
  std::vector<Values> EmitGroup(const ProgramBody& body, const Group& group) {
    std::vector<bool> is_read(operands_.size(), false);
    for (const Instruction& i : body.instructions) {
      if (i.op == Opcode::kLoad && i.bits < is_read.size()) {
        is_read[i.bits] = !is_constant_[i.bits];
      }
    }
    std::vector<Values> loaded(operands_.size());
    for (size_t i = 0; i < loaded.size(); ++i) {
      if (is_read[i]) loaded[i] = LoadGroup(i, group);
    }
    std::vector<Values> computed(body.results.size());
    for (int lane = 0; lane < shape_.group; ++lane) {
      const Values values = emitter_.Emit(body, [&](int number) {
        const size_t at = static_cast<size_t>(number);
        return at < loaded.size() && is_read[at] ? loaded[at][lane]
                                                 : ReadScalar(number);
      });
      for (size_t i = 0; i < values.size(); ++i) {
        computed[i].push_back(values[i]);
      }
    }
    return computed;
  }
  // An operand that is the same for a whole row, or a row scalar.
  llvm::Value* ReadScalar(int number) const {
    const size_t at = static_cast<size_t>(number);
    return at < constants_.size() ? constants_[at]
                                  : scalars_[at - constants_.size()];
  }

  // for (i = this thread; i < groups; i += threads of the row), at least once:
  // a row has a group for each of its threads. Values go from one to the next.
  Values ForEachGroup(const Values& begin,
                      const std::function<Values(const Group& group,
                                                 const Values& before)>& emit) {
    const int64_t groups = (length_ + shape_.group - 1) / shape_.group;
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* loop = Block("loop");
    llvm::BasicBlock* next = Block("next");
    ir_.CreateBr(loop);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* i = ir_.CreatePHI(index_type_, 2, "i");
    i->addIncoming(first_group_, before);
    std::vector<llvm::PHINode*> carried;
    for (llvm::Value* value : begin) {
      carried.push_back(ir_.CreatePHI(value->getType(), 2));
      carried.back()->addIncoming(value, before);
    }
    const Values values =
        emit(GroupAt(i), Values(carried.begin(), carried.end()));
    llvm::Value* after = ir_.CreateAdd(i, Index(shape_.row_threads));
    llvm::BasicBlock* last = ir_.GetInsertBlock();
    i->addIncoming(after, last);
    for (size_t k = 0; k < carried.size(); ++k) {
      carried[k]->addIncoming(values[k], last);
    }
    llvm::BranchInst* back =
        ir_.CreateCondBr(ir_.CreateICmpULT(after, Index(groups)), loop, next);
    if (!MayUnroll(ThreadWords(program_))) KeepLoop(*back);
    ir_.SetInsertPoint(next);
    return values;
  }

  void EmitPhase(const RowPhase& phase) {
    const Values totals = join_.Totals(phase, Accumulate(phase));
    scalars_.insert(scalars_.end(), totals.begin(), totals.end());
    const Values scalars = emitter_.Emit(
        phase.scalars, [&](int number) { return ReadScalar(number); });
    scalars_.insert(scalars_.end(), scalars.begin(), scalars.end());
  }

  // The accumulators of this thread, by reduction, in sequence.
  Values Accumulate(const RowPhase& phase) {
    Values begin;
    for (size_t r = 0; r < phase.combiners.size(); ++r) {
      const ScalarType type = ResultType(phase.elements, r);
      const Instruction start = {.op = Opcode::kConstant,
                                 .type = type,
                                 .bits = StartBits(phase.combiners[r], type)};
      begin.insert(
          begin.end(), shape_.group,
          emitter_.Emit({.instructions = {start}, .results = {0}}, {})[0]);
    }
    return ForEachGroup(begin, [&](const Group& group, const Values& before) {
      const std::vector<Values> values = EmitGroup(phase.elements, group);
      Values after;
      for (size_t r = 0; r < values.size(); ++r) {
        for (int lane = 0; lane < shape_.group; ++lane) {
          llvm::Value* total = before[after.size()];
          llvm::Value* combined = EmitCombiner(emitter_, phase.combiners[r],
                                               ResultType(phase.elements, r),
                                               total, values[r][lane]);
          llvm::Value* exists = group.exists[lane];
          after.push_back(exists == nullptr
                              ? combined
                              : ir_.CreateSelect(exists, combined, total));
        }
      }
      return after;
    });
  }

  void StoreRow(llvm::Value* row) {
    const size_t of_elements = program_.elements.results.size();
    if (of_elements > 0) {
      ForEachGroup({}, [&](const Group& group, const Values&) {
        const std::vector<Values> values = EmitGroup(program_.elements, group);
        for (size_t i = 0; i < values.size(); ++i) {
          StoreGroup(i, values[i], group);
        }
        return Values();
      });
    }
    if (of_elements == result_types_.size()) return;
    EmitIf(ir_, ir_.CreateICmpEQ(row_thread_, ir_.getInt32(0)), [&] {
      for (size_t i = of_elements; i < result_types_.size(); ++i) {
        llvm::Value* scalar = scalars_[program_.row_results[i - of_elements]];
        access_.Store(result_types_[i],
                      {access_.ToMemory(result_types_[i], scalar)}, results_[i],
                      row);
      }
    });
  }
  void StoreGroup(size_t i, Values values, const Group& group) {
    const ScalarType type = result_types_[i];
    for (llvm::Value*& value : values) value = access_.ToMemory(type, value);
    llvm::Value* at = ir_.CreateAdd(first_element_, group.first);
    if (accesses_ == Accesses::kGroups) {
      return access_.Store(type, values, results_[i], at);
    }
    for (int lane = 0; lane < shape_.group; ++lane) {
      EmitIf(ir_, group.exists[lane], [&] {
        access_.Store(type, {values[lane]}, results_[i],
                      ir_.CreateAdd(at, Index(lane)));
      });
    }
  }

  const RowProgram& program_;
  const int64_t num_rows_;
  const int64_t length_;
  const GpuRowShape shape_;
  const std::vector<ScalarType> result_types_;
  llvm::IRBuilder<> ir_;
  InstructionEmitter emitter_;
  GpuAccess access_;
  llvm::Function* function_;
  GpuRowJoin join_;
  llvm::Type* index_type_ = nullptr;
  std::vector<std::vector<int64_t>> row_strides_;     // by operand
  std::vector<std::vector<int64_t>> column_strides_;  // by operand
  std::vector<bool> is_constant_;                     // of a row, by operand
  Values operands_;
  Values results_;
  llvm::Value* thread_ = nullptr;        // of the block
  llvm::Value* row_thread_ = nullptr;    // of the row
  llvm::Value* first_group_ = nullptr;   // of this thread
  llvm::Value* row_of_block_ = nullptr;  // of this thread
  Accesses accesses_ = Accesses::kElements;
  Values row_offsets_;                    // by operand
  llvm::Value* first_element_ = nullptr;  // of the row, in results
  Values constants_;  // an operand's element for the whole row, or null
  Values scalars_;    // of the row, as far as they are known
};

}  // namespace

void AddGpuRowFunction(const RowProgram& program, llvm::Module& module) {
  GpuRowFunction(program, module).Emit();
}

}  // namespace partita
