// Loops over tiles and over points.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_index_function.h"

#include <span>
#include <string>
#include <vector>

#include "kernels/codegen/gpu_entry.h"
#include "kernels/codegen/gpu_kernel.h"
#include "kernels/codegen/gpu_threads.h"
#include "kernels/codegen/index_emitter.h"
#include "kernels/codegen/keep_loop.h"
#include "kernels/codegen/loop_index.h"
#include "llvm/IR/IRBuilder.h"

namespace partita {
namespace {

using Addresses = std::vector<llvm::Value*>;

// What the threads compute of one program, at the builder's position.
class GpuIndexLoops {
 public:
  GpuIndexLoops(const IndexProgram& program, llvm::IRBuilder<>& ir,
                const Addresses& operands, const Addresses& results)
      : program_(program),
        tile_(TileOf(program)),
        ir_(ir),
        emitter_(program, ir, operands, results),
        function_(ir.GetInsertBlock()->getParent()),
        operands_(operands),
        results_(results) {}

  void Emit() {
    llvm::BasicBlock* done = Block("done");
    CountThreads();
    if (tile_.points() == 1) {
      EmitLoop(IndexTile(), done);
    } else {
      llvm::BasicBlock* tiles = Block("tiles");
      llvm::BasicBlock* points = Block("points");
      ir_.CreateCondBr(EveryTileIsAligned(), tiles, points);
      ir_.SetInsertPoint(tiles);
      EmitLoop(tile_, done);
      ir_.SetInsertPoint(points);
      EmitLoop(IndexTile(), done);
    }
    ir_.SetInsertPoint(done);
    done->moveAfter(&function_->back());
  }

 private:
  llvm::BasicBlock* Block(const char* name) {
    return llvm::BasicBlock::Create(ir_.getContext(), name, function_);
  }
  llvm::Value* Index(int64_t value) {
    return llvm::ConstantInt::get(emitter_.index_type(), value);
  }

  void CountThreads() {
    const auto index = [&](llvm::Value* value) {
      return ir_.CreateZExt(value, emitter_.index_type());
    };
    llvm::Value* threads = index(GpuBlockThreads(ir_));
    thread_ = ir_.CreateAdd(ir_.CreateMul(index(GpuBlock(ir_)), threads),
                            index(GpuThread(ir_)));
    threads_ = ir_.CreateMul(index(GpuBlocks(ir_)), threads);
  }

  // True if the addresses of all accesses of several elements are multiples of
  // the group's size.
  llvm::Value* EveryTileIsAligned() {
    llvm::Value* beyond = ir_.getInt64(0);
    const auto add = [&](llvm::Value* address, ScalarType type) {
      llvm::Value* bits = ir_.CreatePtrToInt(address, ir_.getInt64Ty());
      beyond = ir_.CreateOr(
          beyond,
          ir_.CreateAnd(bits, ir_.getInt64(tile_.group * BytesOf(type) - 1)));
    };
    for (const ProgramBody* body : BodiesOf(program_)) {
      const std::vector<bool> reads =
          NeighbourReads(program_, *body, tile_.group);
      for (size_t i = 0; i < reads.size(); ++i) {
        const Instruction& element = body->instructions[i];
        if (reads[i]) add(operands_[element.bits], element.type);
      }
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      add(results_[i], ResultType(program_, i));
    }
    return ir_.CreateICmpEQ(beyond, ir_.getInt64(0));
  }

  // for (i = thread; i < tiles; i += threads) compute tile i; then a branch to
  // `next`.
  void EmitLoop(const IndexTile& tile, llvm::BasicBlock* next) {
    llvm::Value* end = Index(NumPoints(program_) / tile.points());
    llvm::BasicBlock* before = ir_.GetInsertBlock();
    llvm::BasicBlock* loop = Block("loop");
    ir_.CreateCondBr(ir_.CreateICmpULT(thread_, end), loop, next);
    ir_.SetInsertPoint(loop);
    llvm::PHINode* i = ir_.CreatePHI(emitter_.index_type(), 2, "i");
    i->addIncoming(thread_, before);
    emitter_.EmitTile(tile, FirstOf(tile, i));
    llvm::Value* after = ir_.CreateAdd(i, threads_);
    i->addIncoming(after, ir_.GetInsertBlock());
    llvm::BranchInst* back =
        ir_.CreateCondBr(ir_.CreateICmpULT(after, end), loop, next);
    if (!MayUnroll(ThreadWords(program_))) KeepLoop(*back);
  }

  // The coordinates of a tile's first point.
  std::vector<llvm::Value*> FirstOf(const IndexTile& tile, llvm::Value* i) {
    if (program_.loops.empty()) return {};
    std::vector<int64_t> tiles = program_.loops;
    tiles[tile.rows_loop] /= tile.rows;
    tiles.back() /= tile.group;
    std::vector<llvm::Value*> coordinates = LoopCoordinates(ir_, tiles, i);
    const auto scale = [&](llvm::Value*& coordinate, int factor) {
      if (factor > 1) coordinate = ir_.CreateMul(coordinate, Index(factor));
    };
    scale(coordinates[tile.rows_loop], tile.rows);
    scale(coordinates.back(), tile.group);
    return coordinates;
  }

  const IndexProgram& program_;
  const IndexTile tile_;
  llvm::IRBuilder<>& ir_;
  IndexEmitter emitter_;
  llvm::Function* const function_;
  llvm::Value* thread_ = nullptr;   // the number of this thread in the launch
  llvm::Value* threads_ = nullptr;  // of the launch
  const Addresses operands_;
  const Addresses results_;
};

using Parts = std::span<const IndexProgram>;

size_t NumResults(Parts parts) {
  size_t results = 0;
  for (const IndexProgram& part : parts) results += part.last.results.size();
  return results;
}

void AddKernel(const std::string& name, Parts parts, int64_t thread_words,
               llvm::Module& module) {
  const size_t num_operands = parts[0].operands.size();
  llvm::Function* function =
      AddGpuEntry(name, num_operands + NumResults(parts), GpuThreads::kAtMost,
                  kGpuBlockThreads, thread_words, module);
  llvm::IRBuilder<> ir(module.getContext());
  ir.SetInsertPoint(
      llvm::BasicBlock::Create(ir.getContext(), "entry", function));
  Addresses operands, results;
  SplitParameters(ir, *function, num_operands, operands, results);
  auto next = results.begin();
  for (const IndexProgram& part : parts) {
    const auto end = next + static_cast<int64_t>(part.last.results.size());
    GpuIndexLoops(part, ir, operands, Addresses(next, end)).Emit();
    next = end;
  }
  ir.CreateRetVoid();
}

}  // namespace

void AddGpuIndexFunction(const IndexProgram& program, llvm::Module& module) {
  AddKernel(program.name, Parts(&program, 1), ThreadWords(program), module);
}

void AddGpuIndexFunction(const JoinedProgram& program, llvm::Module& module) {
  AddKernel(program.name, program.parts, ThreadWords(program), module);
}

}  // namespace partita
