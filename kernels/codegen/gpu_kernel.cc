// Sizes of groups and launches.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_kernel.h"

#include <algorithm>

namespace partita {
namespace {

constexpr int64_t kWidestAccess = 16;  // bytes
// Instructions of all elements of a group: beyond it, code grows for nothing,
// since arithmetic takes longer than accesses.
constexpr int64_t kMostInstructions = 4096;
// A multiprocessor holds at most 32 blocks at once.
constexpr int64_t kBlocksOfMultiprocessor = 64;

int64_t InnerStride(const ProgramOperand& operand) {
  return operand.strides.empty() ? 0 : operand.strides.back();
}

// Of results, and of operands that have neighbouring elements in a line.
int64_t WidestElement(const ElementwiseProgram& program) {
  int64_t widest = 1;
  for (int32_t result : program.results) {
    widest = std::max(widest, BytesOf(program.instructions[result].type));
  }
  for (const ProgramOperand& operand : program.operands) {
    if (InnerStride(operand) == 1) {
      widest = std::max(widest, BytesOf(operand.type));
    }
  }
  return widest;
}

}  // namespace

int64_t NumElements(const ElementwiseProgram& program) {
  int64_t count = 1;
  for (int64_t extent : program.loops) count *= extent;
  return count;
}

int GroupElements(const ElementwiseProgram& program) {
  if (program.loops.empty()) return 1;
  const int64_t instructions =
      static_cast<int64_t>(program.instructions.size());
  int64_t group = kWidestAccess / WidestElement(program);
  while (group > 1 && group * instructions > kMostInstructions) group /= 2;
  if (program.loops.size() > 1) {
    while (program.loops.back() % group != 0) group /= 2;
  }
  return static_cast<int>(group);
}

GroupAccess GroupAccessOf(const ElementwiseProgram& program,
                          const ProgramOperand& operand, int group) {
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
  const int64_t most = std::min(multiprocessors * kBlocksOfMultiprocessor,
                                kMostGpuThreads / kGpuBlockThreads);
  return {static_cast<unsigned>(
              std::max<int64_t>(1, std::min<int64_t>(blocks, most))),
          kGpuBlockThreads};
}

}  // namespace partita
