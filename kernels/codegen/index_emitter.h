// The points of an index program as LLVM IR, for any target.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_INDEX_EMITTER_H_
#define PARTITA_KERNELS_CODEGEN_INDEX_EMITTER_H_

#include <functional>
#include <vector>

#include "kernels/codegen/gpu_access.h"
#include "kernels/codegen/index_program.h"
#include "kernels/codegen/index_tile.h"
#include "kernels/codegen/instruction_emitter.h"
#include "llvm/IR/IRBuilder.h"

namespace partita {

// Emits at the builder's position; the loops over steps are its blocks.
class IndexEmitter {
 public:
  // `operands` and `results` are addresses; those that a tile accesses as
  // neighbours are aligned to the accesses.
  IndexEmitter(const IndexProgram& program, llvm::IRBuilder<>& ir,
               std::vector<llvm::Value*> operands,
               std::vector<llvm::Value*> results);

  // Computes and stores the points of a tile. `coordinates` are those of its
  // first point, by loop, of the program's index type.
  void EmitTile(const IndexTile& tile,
                const std::vector<llvm::Value*>& coordinates);

  llvm::Type* index_type() const { return index_type_; }

 private:
  // A register by point of the tile, row by row. Points share what is the same
  // for them.
  using Points = std::vector<llvm::Value*>;

  llvm::Value* Index(int64_t value) const;
  int Inner() const { return static_cast<int>(program_.loops.size()) - 1; }
  // The results of a body, by result. `loops` are those of its instructions.
  std::vector<Points> EmitBody(const ProgramBody& body,
                               const std::vector<LoopSet>& loops,
                               const std::vector<Points>& state);
  // The first point that has the same value as `point` of what depends on
  // these loops.
  size_t FirstWithValueOf(size_t point, LoopSet loops) const;
  llvm::Value* EmitPoint(const ProgramBody& body, const Instruction& i,
                         size_t point, const std::vector<Points>& values,
                         const std::vector<Points>& state);
  llvm::Value* Coordinate(size_t loop, size_t point);
  // `count` elements of a kElement, from its offset at the point on.
  Points EmitElements(const Instruction& i, size_t point, int count,
                      const std::vector<Points>& values);
  // The state after all steps of loops `level` and further in.
  std::vector<Points> EmitSteps(size_t level, const std::vector<Points>& state);
  // The state after one step.
  std::vector<Points> EmitStep(std::vector<Points> state);
  Points EmitSum(const StepSum& sum);
  // The values after all rounds of a loop, `at_once` of them in the code of one
  // after the other. A round makes new values of those before.
  using Round = std::function<std::vector<Points>(const std::vector<Points>&)>;
  std::vector<Points> EmitRounds(size_t loop, int64_t extent, int at_once,
                                 std::vector<Points> values,
                                 const Round& round);
  void StoreResults(const std::vector<Points>& results);

  const IndexProgram& program_;
  llvm::IRBuilder<>& ir_;
  InstructionEmitter emitter_;
  GpuAccess access_;
  llvm::Type* const index_type_;
  const std::vector<llvm::Value*> operands_;
  const std::vector<llvm::Value*> results_;
  IndexTile tile_;
  // Of loops, then of steps, then of a term.
  std::vector<llvm::Value*> coordinates_;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_INDEX_EMITTER_H_
