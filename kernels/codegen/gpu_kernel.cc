// Sizes of groups and launches.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_kernel.h"

#include <algorithm>

namespace partita {
namespace {

// Instructions of all elements of a group: beyond it, code grows for nothing,
// since arithmetic takes longer than accesses.
constexpr int64_t kMostInstructions = 4096;
// A multiprocessor holds at most 32 blocks at once.
constexpr int64_t kBlocksOfMultiprocessor = 64;

int64_t InnerStride(const ProgramOperand& operand) {
  return operand.strides.empty() ? 0 : operand.strides.back();
}

// Of a body's results, and of operands that have neighbouring elements in a
// line.
int64_t WidestElement(const ProgramBody& body,
                      const std::vector<ProgramOperand>& operands) {
  int64_t widest = 1;
  for (int32_t result : body.results) {
    widest = std::max(widest, BytesOf(body.instructions[result].type));
  }
  for (const ProgramOperand& operand : operands) {
    if (InnerStride(operand) == 1) {
      widest = std::max(widest, BytesOf(operand.type));
    }
  }
  return widest;
}

int64_t NumInstructions(const RowProgram& program) {
  size_t count = program.elements.instructions.size();
  for (const RowPhase& phase : program.phases) {
    count += phase.elements.instructions.size();
  }
  return static_cast<int64_t>(count);
}

// As many elements as make the widest access, but no more code than is worth
// it.
int64_t WidestGroup(int64_t widest_element, int64_t instructions) {
  int64_t group = kWidestGpuAccess / widest_element;
  while (group > 1 && group * instructions > kMostInstructions) group /= 2;
  return group;
}

GpuLaunch LaunchOfBlocks(int64_t blocks, unsigned threads,
                         int multiprocessors) {
  const int64_t most = std::min(multiprocessors * kBlocksOfMultiprocessor,
                                kMostGpuThreads / threads);
  return {static_cast<unsigned>(
              std::max<int64_t>(1, std::min<int64_t>(blocks, most))),
          threads};
}

}  // namespace

int64_t NumElements(const ElementwiseProgram& program) {
  int64_t count = 1;
  for (int64_t extent : program.loops) count *= extent;
  return count;
}

int GroupElements(const ElementwiseProgram& program) {
  if (program.loops.empty()) return 1;
  int64_t group =
      WidestGroup(WidestElement(program, program.operands),
                  static_cast<int64_t>(program.instructions.size()));
  if (program.loops.size() > 1) {
    while (program.loops.back() % group != 0) group /= 2;
  }
  return static_cast<int>(group);
}

GroupAccess GroupAccessOf(const ProgramOperand& operand, int group) {
  const int64_t inner = InnerStride(operand);
  if (inner == 0) return GroupAccess::kOnce;
  if (inner != 1) return GroupAccess::kEach;
  // Every line begins at a multiple of the group.
  const auto last = operand.strides.end() - 1;
  return std::all_of(operand.strides.begin(), last,
                     [&](int64_t stride) { return stride % group == 0; })
             ? GroupAccess::kNeighbours
             : GroupAccess::kEach;
}

GpuLaunch LaunchOf(const ElementwiseProgram& program, int multiprocessors) {
  const int64_t group = GroupElements(program);
  const int64_t groups = (NumElements(program) + group - 1) / group;
  const int64_t blocks = (groups + kGpuBlockThreads - 1) / kGpuBlockThreads;
  return LaunchOfBlocks(blocks, kGpuBlockThreads, multiprocessors);
}

GpuRowShape RowShapeOf(const RowProgram& program) {
  // Of short rows: small, so that few rows keep several multiprocessors busy.
  constexpr int64_t kThreadsOfShortRows = 128;
  const int64_t accumulators = NumAccumulators(RowLength(program));
  const int64_t group = std::clamp(
      WidestGroup(WidestElement(program.elements, program.operands),
                  NumInstructions(program)),
      std::max<int64_t>(1, accumulators / kGpuBlockThreads), accumulators);
  const int64_t threads = accumulators / group;
  const int64_t rows =
      threads > kGpuWarpThreads ? 1 : kThreadsOfShortRows / threads;
  return {static_cast<int>(group), static_cast<int>(threads),
          static_cast<int>(rows)};
}

bool HasWholeGroups(const RowProgram& program) {
  return program.columns.back() % RowShapeOf(program).group == 0;
}

GpuLaunch LaunchOf(const RowProgram& program, int multiprocessors) {
  const GpuRowShape shape = RowShapeOf(program);
  const int64_t blocks =
      (NumRows(program) + shape.block_rows - 1) / shape.block_rows;
  return LaunchOfBlocks(blocks, shape.block_threads(), multiprocessors);
}

}  // namespace partita
