// Bodies for all points of a tile, and loops over steps.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/index_emitter.h"

#include <algorithm>
#include <utility>

#include "kernels/codegen/keep_loop.h"
#include "kernels/codegen/loop_index.h"

namespace partita {

IndexEmitter::IndexEmitter(const IndexProgram& program, llvm::IRBuilder<>& ir,
                           std::vector<llvm::Value*> operands,
                           std::vector<llvm::Value*> results)
    : program_(program),
      ir_(ir),
      emitter_(ir, /*lanes=*/1),
      access_(ir, emitter_),
      index_type_(emitter_.RegisterType(program.index)),
      operands_(std::move(operands)),
      results_(std::move(results)) {}

llvm::Value* IndexEmitter::Index(int64_t value) const {
  return llvm::ConstantInt::get(index_type_, value);
}

void IndexEmitter::EmitTile(const IndexTile& tile,
                            const std::vector<llvm::Value*>& coordinates) {
  tile_ = tile;
  coordinates_ = coordinates;
  coordinates_.resize(TermLoop(program_) + 1, nullptr);
  std::vector<Points> state =
      EmitBody(program_.first, LoopsOf(program_, program_.first), {});
  if (NumSteps(program_) > 0) state = EmitSteps(0, state);
  StoreResults(
      EmitBody(program_.last, LoopsOf(program_, program_.last), state));
}

// Point after point, so that what only one needs is live for a short time.
std::vector<IndexEmitter::Points> IndexEmitter::EmitBody(
    const ProgramBody& body, const std::vector<LoopSet>& loops,
    const std::vector<Points>& state) {
  const std::vector<bool> neighbours =
      NeighbourReads(program_, body, tile_.group);
  const size_t points = tile_.points();
  std::vector<Points> values(body.instructions.size(), Points(points, nullptr));
  for (size_t point = 0; point < points; ++point) {
    for (size_t at = 0; at < values.size(); ++at) {
      const Instruction& i = body.instructions[at];
      const size_t first = FirstWithValueOf(point, loops[at]);
      if (first < point) {
        values[at][point] = values[at][first];
      } else if (!neighbours[at]) {
        values[at][point] = EmitPoint(body, i, point, values, state);
      } else if (point % tile_.group == 0) {
        const Points loaded = EmitElements(i, point, tile_.group, values);
        std::copy(loaded.begin(), loaded.end(), values[at].begin() + point);
      }
    }
  }
  std::vector<Points> results;
  for (int32_t result : body.results) results.push_back(values[result]);
  return results;
}

size_t IndexEmitter::FirstWithValueOf(size_t point, LoopSet loops) const {
  const auto depends = [&](int loop) {
    return loop >= 0 && (loops >> loop & 1) != 0;
  };
  const size_t group = tile_.group;
  const size_t row = depends(tile_.rows_loop) ? point / group : 0;
  return row * group + (depends(Inner()) ? point % group : 0);
}

llvm::Value* IndexEmitter::EmitPoint(const ProgramBody& body,
                                     const Instruction& i, size_t point,
                                     const std::vector<Points>& values,
                                     const std::vector<Points>& state) {
  const auto value = [&](int32_t id) {
    return id < 0 ? nullptr : values[id][point];
  };
  switch (i.op) {
    case Opcode::kLoad:
      return state[i.bits][point];
    case Opcode::kCoordinate:
      return Coordinate(i.bits, point);
    case Opcode::kElement:
      return EmitElements(i, point, /*count=*/1, values)[0];
    default:
      return emitter_.EmitOne(i, i.a < 0 ? i.type : body.instructions[i.a].type,
                              value(i.a), value(i.b), value(i.c));
  }
}

llvm::Value* IndexEmitter::Coordinate(size_t loop, size_t point) {
  const int64_t row = static_cast<int64_t>(point) / tile_.group;
  const int64_t in_group = static_cast<int64_t>(point) % tile_.group;
  llvm::Value* first = coordinates_[loop];
  const int number = static_cast<int>(loop);
  if (number == Inner()) return ir_.CreateAdd(first, Index(in_group));
  if (tile_.rows == 1 || number != tile_.rows_loop) return first;
  return ir_.CreateAdd(first, Index(row));
}

IndexEmitter::Points IndexEmitter::EmitElements(
    const Instruction& i, size_t point, int count,
    const std::vector<Points>& values) {
  llvm::Constant* none =
      llvm::Constant::getNullValue(emitter_.RegisterType(i.type));
  if (program_.operands[i.bits].elements == 0) return Points(count, none);
  llvm::Value* offset = values[i.a][point];
  llvm::Value* condition = i.b < 0 ? nullptr : values[i.b][point];
  // Without a branch: element 0 always exists.
  if (condition != nullptr) {
    offset = ir_.CreateSelect(condition, offset, Index(0));
  }
  Points elements = access_.Load(i.type, operands_[i.bits], offset, count);
  for (llvm::Value*& element : elements) {
    element = access_.ToRegister(i.type, element);
    if (condition != nullptr) {
      element = ir_.CreateSelect(condition, element, none);
    }
  }
  return elements;
}

std::vector<IndexEmitter::Points> IndexEmitter::EmitSteps(
    size_t level, const std::vector<Points>& state) {
  if (level == program_.steps.size()) return EmitStep(state);
  const size_t loop = program_.loops.size() + level;
  const bool is_innermost = loop == InnermostStepLoop(program_);
  return EmitRounds(loop, program_.steps[level], is_innermost ? tile_.steps : 1,
                    state, [&](const std::vector<Points>& before) {
                      return EmitSteps(level + 1, before);
                    });
}

std::vector<IndexEmitter::Points> IndexEmitter::EmitStep(
    std::vector<Points> state) {
  for (const StepSum& sum : program_.sums) state.push_back(EmitSum(sum));
  return EmitBody(program_.step, LoopsOf(program_, program_.step), state);
}

IndexEmitter::Points IndexEmitter::EmitSum(const StepSum& sum) {
  const std::vector<LoopSet> loops = LoopsOf(sum);
  const ScalarType type = sum.body.instructions[sum.body.results[0]].type;
  llvm::Value* zero = llvm::Constant::getNullValue(emitter_.RegisterType(type));
  const Round round = [&](const std::vector<Points>& before) {
    return EmitBody(sum.body, loops, before);
  };
  return EmitRounds(TermLoop(program_), sum.terms, tile_.terms,
                    {Points(tile_.points(), zero)}, round)[0];
}

std::vector<IndexEmitter::Points> IndexEmitter::EmitRounds(
    size_t loop, int64_t extent, int at_once, std::vector<Points> values,
    const Round& round) {
  const int64_t in_loop = extent / at_once * at_once;
  const auto emit = [&](llvm::Value* coordinate) {
    coordinates_[loop] = coordinate;
    values = round(values);
  };
  int64_t done = 0;
  if (in_loop > at_once) {
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::Function* function = before->getParent();
    llvm::BasicBlock* begin =
        llvm::BasicBlock::Create(ir_.getContext(), "rounds", function);
    ir_.CreateBr(begin);
    ir_.SetInsertPoint(begin);
    llvm::PHINode* first = ir_.CreatePHI(index_type_, 2, "first");
    first->addIncoming(Index(0), before);
    std::vector<llvm::PHINode*> carried;
    for (Points& points : values) {
      for (llvm::Value*& value : points) {
        carried.push_back(ir_.CreatePHI(value->getType(), 2));
        carried.back()->addIncoming(value, before);
        value = carried.back();
      }
    }
    for (int k = 0; k < at_once; ++k) {
      emit(ir_.CreateAdd(first, Index(k)));
    }
    llvm::Value* next = ir_.CreateAdd(first, Index(at_once));
    llvm::BasicBlock* end = ir_.GetInsertBlock();
    first->addIncoming(next, end);
    auto phi = carried.begin();
    for (const Points& points : values) {
      for (llvm::Value* value : points) (*phi++)->addIncoming(value, end);
    }
    llvm::BasicBlock* after =
        llvm::BasicBlock::Create(ir_.getContext(), "after_rounds", function);
    KeepLoop(*ir_.CreateCondBr(ir_.CreateICmpULT(next, Index(in_loop)), begin,
                               after));
    ir_.SetInsertPoint(after);
    done = in_loop;
  }
  for (; done < extent; ++done) emit(Index(done));
  return values;
}

void IndexEmitter::StoreResults(const std::vector<Points>& results) {
  std::vector<int64_t> strides(program_.loops.size(), 1);
  for (size_t loop = strides.size(); loop-- > 1;) {
    strides[loop - 1] = strides[loop] * program_.loops[loop];
  }
  for (int row = 0; row < tile_.rows; ++row) {
    const size_t first = static_cast<size_t>(row) * tile_.group;
    std::vector<llvm::Value*> coordinates;
    for (size_t loop = 0; loop < strides.size(); ++loop) {
      coordinates.push_back(Coordinate(loop, first));
    }
    llvm::Value* at = LoopOffset(ir_, index_type_, coordinates, strides);
    for (size_t i = 0; i < results.size(); ++i) {
      const ScalarType type = ResultType(program_, i);
      std::vector<llvm::Value*> elements;
      for (int k = 0; k < tile_.group; ++k) {
        elements.push_back(access_.ToMemory(type, results[i][first + k]));
      }
      access_.Store(type, elements, results_[i], at);
    }
  }
}

}  // namespace partita
