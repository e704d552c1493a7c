// Emits trees of combinations over threads and warps.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_row_join.h"

#include <algorithm>
#include <cstdint>

#include "kernels/codegen/emit_if.h"
#include "kernels/codegen/gpu_threads.h"

namespace partita {

ScalarType ResultType(const ProgramBody& body, size_t result) {
  return body.instructions[body.results[result]].type;
}

llvm::Value* EmitCombiner(InstructionEmitter& emitter, Combiner combiner,
                          ScalarType type, llvm::Value* a, llvm::Value* b) {
  return emitter.Emit(BodyOf(combiner, type),
                      [&](int number) { return number == 0 ? a : b; })[0];
}

GpuRowJoin::GpuRowJoin(const RowProgram& program, const GpuRowShape& shape,
                       llvm::Function& kernel, llvm::IRBuilder<>& ir,
                       InstructionEmitter& emitter)
    : shape_(shape),
      warps_(std::max(1, shape.row_threads / kGpuWarpThreads)),
      ir_(ir),
      emitter_(emitter) {
  int64_t reductions = 0;
  for (const RowPhase& phase : program.phases) {
    reductions += static_cast<int64_t>(phase.combiners.size());
  }
  if (warps_ > 1 && reductions > 0) {
    shared_ = AddSharedWords(kernel, warps_ * reductions);
  }
}

void GpuRowJoin::FindLane(llvm::Value* thread) {
  thread_ = thread;
  lane_ = ir_.CreateAnd(thread, ir_.getInt32(kGpuWarpThreads - 1));
}

// The next row's totals are written to the same words.
void GpuRowJoin::EndRow() {
  if (shared_ != nullptr) GpuBarrier(ir_);
}

std::vector<llvm::Value*> GpuRowJoin::Totals(
    const RowPhase& phase, const std::vector<llvm::Value*>& accumulators) {
  Values totals;
  for (size_t r = 0; r < phase.combiners.size(); ++r) {
    const auto first = accumulators.begin() + r * shape_.group;
    totals.push_back(JoinWarp(phase.combiners[r], ResultType(phase.elements, r),
                              Values(first, first + shape_.group)));
  }
  if (warps_ > 1) {
    JoinWarps(phase, totals);
  } else if (shape_.row_threads > 1) {
    // From the first thread of the row.
    llvm::Value* from = ir_.CreateAnd(lane_, ir_.getInt32(-shape_.row_threads));
    for (llvm::Value*& total : totals) total = ShuffleFrom(ir_, total, from);
  }
  return totals;
}

llvm::Value* GpuRowJoin::JoinNeighbours(Combiner combiner, ScalarType type,
                                        Values values) {
  while (values.size() > 1) {
    for (size_t k = 0; 2 * k < values.size(); ++k) {
      values[k] = EmitCombiner(emitter_, combiner, type, values[2 * k],
                               values[2 * k + 1]);
    }
    values.resize(values.size() / 2);
  }
  return values[0];
}

// Of a thread, then of the row's threads in a warp: right in the first.
llvm::Value* GpuRowJoin::JoinWarp(Combiner combiner, ScalarType type,
                                  const Values& accumulators) {
  llvm::Value* total = JoinNeighbours(combiner, type, accumulators);
  const int threads = std::min(shape_.row_threads, kGpuWarpThreads);
  for (int distance = 1; distance < threads; distance *= 2) {
    total = EmitCombiner(emitter_, combiner, type, total,
                         ShuffleDown(ir_, total, distance));
  }
  return total;
}

// Sets the totals of warps to those of the row, in every thread.
void GpuRowJoin::JoinWarps(const RowPhase& phase, Values& totals) {
  if (totals.empty()) return;
  const auto word = [&](size_t r, llvm::Value* warp) {
    llvm::Value* at = ir_.CreateAdd(
        warp, ir_.getInt32(next_shared_word_ + static_cast<int>(r) * warps_));
    return ir_.CreateGEP(ir_.getInt64Ty(), shared_, at);
  };
  EmitIf(ir_, ir_.CreateICmpEQ(lane_, ir_.getInt32(0)), [&] {
    llvm::Value* warp = ir_.CreateUDiv(thread_, ir_.getInt32(kGpuWarpThreads));
    for (size_t r = 0; r < totals.size(); ++r) {
      ir_.CreateStore(totals[r], word(r, warp));
    }
  });
  GpuBarrier(ir_);
  for (size_t r = 0; r < totals.size(); ++r) {
    const ScalarType type = ResultType(phase.elements, r);
    Values of_warps;
    for (int warp = 0; warp < warps_; ++warp) {
      of_warps.push_back(ir_.CreateLoad(emitter_.RegisterType(type),
                                        word(r, ir_.getInt32(warp))));
    }
    totals[r] = JoinNeighbours(phase.combiners[r], type, of_warps);
  }
  next_shared_word_ += static_cast<int>(totals.size()) * warps_;
}

}  // namespace partita
