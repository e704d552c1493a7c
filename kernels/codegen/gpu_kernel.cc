// Sizes of groups and launches.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_kernel.h"

#include <algorithm>
#include <vector>

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

int64_t NumInstructions(const IndexProgram& program) {
  return static_cast<int64_t>(program.first.instructions.size() +
                              program.step.instructions.size() +
                              program.last.instructions.size());
}

// Of results, and of operands that are read along the innermost loop.
int64_t WidestAccess(const IndexProgram& program) {
  int64_t widest = 1;
  for (size_t i = 0; i < program.last.results.size(); ++i) {
    widest = std::max(widest, BytesOf(ResultType(program, i)));
  }
  for (const ProgramBody* body :
       {&program.first, &program.step, &program.last}) {
    const std::vector<bool> reads = NeighbourReads(program, *body, /*group=*/2);
    for (size_t i = 0; i < reads.size(); ++i) {
      if (reads[i])
        widest = std::max(widest, BytesOf(body->instructions[i].type));
    }
  }
  return widest;
}

double BodyInstructions(const IndexProgram& program, const ProgramBody& body,
                        const IndexTile& tile) {
  const int inner = static_cast<int>(program.loops.size()) - 1;
  const std::vector<LoopSet> sets = LoopsOf(body);
  const std::vector<bool> neighbours =
      NeighbourReads(program, body, tile.group);
  const auto times = [&](size_t i, int loop, int count) {
    return loop >= 0 && (sets[i] >> loop & 1) != 0 ? count : 1;
  };
  double count = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    const int in_group = neighbours[i] ? 1 : times(i, inner, tile.group);
    count += in_group * times(i, tile.rows_loop, tile.rows);
  }
  return count;
}

// Of the points of a group, in a thread's 80 registers beside addresses and
// coordinates.
constexpr int64_t kMostLiveWords = 60;
// More accumulators would not fit into a thread's registers.
constexpr int64_t kMostTilePoints = 32;
constexpr int64_t kMostTileRows = 8;
// Tiles below this number would leave multiprocessors idle.
constexpr int64_t kFewestTiles = int64_t{1} << 14;

// The innermost loop, except the last, whose neighbours share an element in
// each step that differs along the last one, and differ in one that is the same
// along it: rows of a matmul, filters of a convolution. -1: none.
int SharedLoop(const IndexProgram& program) {
  const int inner = static_cast<int>(program.loops.size()) - 1;
  const std::vector<LoopSet> sets = LoopsOf(program.step);
  for (int loop = inner; loop-- > 0;) {
    bool shares = false;
    bool differs = false;
    for (size_t i = 0; i < sets.size(); ++i) {
      if (program.step.instructions[i].op != Opcode::kElement) continue;
      const bool by_loop = (sets[i] >> loop & 1) != 0;
      const bool by_inner = (sets[i] >> inner & 1) != 0;
      shares |= by_inner && !by_loop;
      differs |= by_loop && !by_inner;
    }
    if (shares && differs) return loop;
  }
  return -1;
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

IndexTile TileOf(const IndexProgram& program) {
  IndexTile tile;
  if (program.loops.empty() || NumPoints(program) == 0) return tile;
  int64_t group = WidestGroup(WidestAccess(program), NumInstructions(program));
  const int64_t words = LiveWords(program);
  while (group > 1 && (program.loops.back() % group != 0 ||
                       group * words > kMostLiveWords)) {
    group /= 2;
  }
  tile.group = static_cast<int>(group);
  const int loop = SharedLoop(program);
  if (loop < 0) return tile;
  int64_t rows = std::min(kMostTileRows, kMostTilePoints / group);
  while (rows > 1 && (program.loops[loop] % rows != 0 ||
                      NumPoints(program) / (rows * group) < kFewestTiles)) {
    rows /= 2;
  }
  tile.rows_loop = loop;
  tile.rows = static_cast<int>(rows);
  return tile;
}

double InstructionsOf(const IndexProgram& program, const IndexTile& tile) {
  return BodyInstructions(program, program.first, tile) +
         static_cast<double>(NumSteps(program)) *
             BodyInstructions(program, program.step, tile) +
         BodyInstructions(program, program.last, tile);
}

GpuLaunch LaunchOf(const IndexProgram& program, int multiprocessors) {
  const int64_t tiles = NumPoints(program) / TileOf(program).points();
  const int64_t blocks = (tiles + kGpuBlockThreads - 1) / kGpuBlockThreads;
  return LaunchOfBlocks(blocks, kGpuBlockThreads, multiprocessors);
}

GpuLaunch LaunchOf(const JoinedProgram& program, int multiprocessors) {
  GpuLaunch launch = LaunchOf(program.parts[0], multiprocessors);
  for (const IndexProgram& part : program.parts) {
    launch.blocks =
        std::max(launch.blocks, LaunchOf(part, multiprocessors).blocks);
  }
  return launch;
}

}  // namespace partita
