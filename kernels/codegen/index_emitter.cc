// Bodies for all points of a tile, and loops over steps.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/index_emitter.h"

#include <utility>

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
  coordinates_.resize(program_.loops.size() + program_.steps.size(), nullptr);
  std::vector<Points> state = EmitBody(program_.first, {});
  if (NumSteps(program_) > 0) state = EmitSteps(0, std::move(state));
  StoreResults(EmitBody(program_.last, state));
}

std::vector<IndexEmitter::Points> IndexEmitter::EmitBody(
    const ProgramBody& body, const std::vector<Points>& state) {
  const std::vector<LoopSet> depends = LoopsOf(body);
  const std::vector<bool> neighbours =
      NeighbourReads(program_, body, tile_.group);
  std::vector<Points> values;
  for (size_t at = 0; at < body.instructions.size(); ++at) {
    values.push_back(
        EmitInstruction(body, at, depends[at], neighbours[at], values, state));
  }
  std::vector<Points> results;
  for (int32_t result : body.results) results.push_back(values[result]);
  return results;
}

IndexEmitter::Points IndexEmitter::EmitInstruction(
    const ProgramBody& body, size_t at, LoopSet depends, bool neighbours,
    const std::vector<Points>& values, const std::vector<Points>& state) {
  const Instruction& i = body.instructions[at];
  const auto by_loop = [&](int loop) {
    return loop >= 0 && (depends >> loop & 1) != 0;
  };
  const size_t group = tile_.group;
  Points points;
  points.reserve(tile_.points());
  for (int row = 0; row < tile_.rows; ++row) {
    if (row > 0 && !by_loop(tile_.rows_loop)) {
      for (size_t k = 0; k < group; ++k) points.push_back(points[k]);
      continue;
    }
    const size_t first = points.size();
    if (neighbours) {
      const Points loaded = EmitElements(i, first, tile_.group, values);
      points.insert(points.end(), loaded.begin(), loaded.end());
    } else if (!by_loop(Inner())) {
      points.resize(first + group, EmitPoint(body, i, first, values, state));
    } else {
      for (size_t k = 0; k < group; ++k) {
        points.push_back(EmitPoint(body, i, first + k, values, state));
      }
    }
  }
  return points;
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
    size_t level, std::vector<Points> state) {
  if (level == program_.steps.size()) return EmitBody(program_.step, state);
  const size_t loop_number = program_.loops.size() + level;
  const int64_t extent = program_.steps[level];
  if (extent == 1) {
    coordinates_[loop_number] = Index(0);
    return EmitSteps(level + 1, std::move(state));
  }
  llvm::BasicBlock* before = ir_.GetInsertBlock();
  llvm::BasicBlock* loop =
      llvm::BasicBlock::Create(ir_.getContext(), "steps", before->getParent());
  ir_.CreateBr(loop);
  ir_.SetInsertPoint(loop);
  llvm::PHINode* step = ir_.CreatePHI(index_type_, 2, "step");
  step->addIncoming(Index(0), before);
  std::vector<llvm::PHINode*> phis;
  for (Points& points : state) {
    for (llvm::Value*& value : points) {
      phis.push_back(ir_.CreatePHI(value->getType(), 2));
      phis.back()->addIncoming(value, before);
      value = phis.back();
    }
  }
  coordinates_[loop_number] = step;
  std::vector<Points> after = EmitSteps(level + 1, std::move(state));
  llvm::Value* next = ir_.CreateAdd(step, Index(1));
  llvm::BasicBlock* end = ir_.GetInsertBlock();
  step->addIncoming(next, end);
  auto phi = phis.begin();
  for (const Points& points : after) {
    for (llvm::Value* value : points) (*phi++)->addIncoming(value, end);
  }
  llvm::BasicBlock* done = llvm::BasicBlock::Create(ir_.getContext(), "stepped",
                                                    before->getParent());
  ir_.CreateCondBr(ir_.CreateICmpULT(next, Index(extent)), loop, done);
  ir_.SetInsertPoint(done);
  return after;
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
