// Joins what the threads of a row have accumulated, as LLVM IR.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_KERNELS_CODEGEN_GPU_ROW_JOIN_H_
#define PARTITA_KERNELS_CODEGEN_GPU_ROW_JOIN_H_

#include <cstddef>
#include <vector>

#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/instruction_emitter.h"
#include "kernels/codegen/row_program.h"
#include "llvm/IR/IRBuilder.h"

namespace partita {

// The type of a result of a body.
ScalarType ResultType(const ProgramBody& body, size_t result);

// Emits the combination of two values.
llvm::Value* EmitCombiner(InstructionEmitter& emitter, Combiner combiner,
                          ScalarType type, llvm::Value* a, llvm::Value* b);

// The accumulators of a thread are combined with one another, then with those
// of neighbouring threads by shuffles, then with those of other warps through
// shared memory.
class GpuRowJoin {
 public:
  // For the kernel of the program. `shape`, `ir` and `emitter` must outlive
  // this.
  GpuRowJoin(const RowProgram& program, const GpuRowShape& shape,
             llvm::Function& kernel, llvm::IRBuilder<>& ir,
             InstructionEmitter& emitter);

  // Emits the number of this thread in its warp. Needed before Totals.
  void FindLane(llvm::Value* thread);
  void BeginRow() { next_shared_word_ = 0; }
  // Waits until all threads have read the row's totals.
  void EndRow();
  // The totals of the phase's reductions over the row, in every thread.
  // `accumulators` are this thread's: a group for each reduction, in sequence.
  std::vector<llvm::Value*> Totals(
      const RowPhase& phase, const std::vector<llvm::Value*>& accumulators);

 private:
  using Values = std::vector<llvm::Value*>;

  llvm::Value* JoinNeighbours(Combiner combiner, ScalarType type,
                              Values values);
  llvm::Value* JoinWarp(Combiner combiner, ScalarType type,
                        const Values& accumulators);
  void JoinWarps(const RowPhase& phase, Values& totals);

  const GpuRowShape& shape_;
  const int warps_;  // of a row
  llvm::IRBuilder<>& ir_;
  InstructionEmitter& emitter_;
  llvm::Value* shared_ = nullptr;  // a word for each warp and reduction
  llvm::Value* thread_ = nullptr;  // of the block
  llvm::Value* lane_ = nullptr;    // of the warp
  int next_shared_word_ = 0;
};

}  // namespace partita

#endif  // PARTITA_KERNELS_CODEGEN_GPU_ROW_JOIN_H_
