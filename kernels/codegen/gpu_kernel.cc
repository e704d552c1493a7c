// Sizes of groups and launches.
// SPDX-License-Identifier: Apache-2.0

#include "kernels/codegen/gpu_kernel.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/codegen/live_words.h"

namespace partita {
namespace {

// Instructions of all elements of a group: beyond it, code grows for nothing,
// since arithmetic takes longer than accesses.
constexpr int64_t kMostInstructions = 4096;
// A multiprocessor holds at most 32 blocks at once.
constexpr int64_t kLaunchedBlocks = 64;

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

bool IsUsual(int64_t words) {
  return words + kRegistersForAddresses <= kUsualThreadRegisters;
}

// As many elements as make the widest access, but no more code than is worth
// it, and no more values than usual registers.
int64_t WidestGroup(int64_t widest_element, int64_t instructions,
                    const std::function<int64_t(int group)>& words) {
  int64_t group = kWidestGpuAccess / widest_element;
  while (group > 1 && (group * instructions > kMostInstructions ||
                       !IsUsual(words(static_cast<int>(group))))) {
    group /= 2;
  }
  return group;
}

int64_t NumInstructions(const IndexProgram& program) {
  size_t count = 0;
  for (const ProgramBody* body : BodiesOf(program)) {
    count += body->instructions.size();
  }
  return static_cast<int64_t>(count);
}

// Of results, and of operands that are read along the innermost loop.
int64_t WidestAccess(const IndexProgram& program) {
  int64_t widest = 1;
  for (size_t i = 0; i < program.last.results.size(); ++i) {
    widest = std::max(widest, BytesOf(ResultType(program, i)));
  }
  for (const ProgramBody* body : BodiesOf(program)) {
    const std::vector<bool> reads = NeighbourReads(program, *body, /*group=*/2);
    for (size_t i = 0; i < reads.size(); ++i) {
      if (reads[i])
        widest = std::max(widest, BytesOf(body->instructions[i].type));
    }
  }
  return widest;
}

double BodyInstructions(const IndexProgram& program, const ProgramBody& body,
                        const std::vector<LoopSet>& sets,
                        const IndexTile& tile) {
  const int inner = static_cast<int>(program.loops.size()) - 1;
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

double BodyInstructions(const IndexProgram& program, const ProgramBody& body,
                        const IndexTile& tile) {
  return BodyInstructions(program, body, LoopsOf(program, body), tile);
}

constexpr int64_t kMostTilePoints = 32;
constexpr int64_t kMostTileRows = 8;
// Rounds of a loop that are computed at once: enough to hide one's reads behind
// another's arithmetic.
constexpr int64_t kMostRounds = 4;
// Tiles below this number would leave multiprocessors idle.
constexpr int64_t kFewestTiles = int64_t{1} << 14;

// Which operands' elements all steps read, by what they depend on.
std::vector<LoopSet> ElementsOfSteps(const IndexProgram& program) {
  std::vector<LoopSet> elements;
  const auto add = [&](const ProgramBody& body,
                       const std::vector<LoopSet>& sets) {
    for (size_t i = 0; i < sets.size(); ++i) {
      if (body.instructions[i].op == Opcode::kElement) {
        elements.push_back(sets[i]);
      }
    }
  };
  for (const StepSum& sum : program.sums) add(sum.body, LoopsOf(sum));
  add(program.step, LoopsOf(program, program.step));
  return elements;
}

// The innermost loop, except the last, whose neighbours share an element in
// each step that differs along the last one, and differ in one that is the same
// along it: rows of a matmul, filters of a convolution. -1: none.
int SharedLoop(const IndexProgram& program) {
  const int inner = static_cast<int>(program.loops.size()) - 1;
  const std::vector<LoopSet> elements = ElementsOfSteps(program);
  for (int loop = inner; loop-- > 0;) {
    bool shares = false;
    bool differs = false;
    for (LoopSet set : elements) {
      const bool by_loop = (set >> loop & 1) != 0;
      const bool by_inner = (set >> inner & 1) != 0;
      shares |= by_inner && !by_loop;
      differs |= by_loop && !by_inner;
    }
    if (shares && differs) return loop;
  }
  return -1;
}

bool IsUsual(const IndexProgram& program, const IndexTile& tile) {
  return IsUsual(LiveWords(program, tile));
}

// A tile of one step, as large as is worth it.
IndexTile PointsOfTile(const IndexProgram& program) {
  IndexTile tile;
  tile.group = static_cast<int>(WidestGroup(
      WidestAccess(program), NumInstructions(program), [&](int group) {
        return LiveWords(program, IndexTile{.group = group});
      }));
  while (program.loops.back() % tile.group != 0) tile.group /= 2;
  const int loop = SharedLoop(program);
  if (loop < 0) return tile;
  tile.rows_loop = loop;
  tile.rows =
      static_cast<int>(std::min(kMostTileRows, kMostTilePoints / tile.group));
  while (tile.rows > 1 && (program.loops[loop] % tile.rows != 0 ||
                           NumPoints(program) / tile.points() < kFewestTiles ||
                           !IsUsual(program, tile))) {
    tile.rows /= 2;
  }
  return tile;
}

// As many rounds of a loop as fit, so that either all rounds are computed at
// once or a loop has at least two times as many.
template <typename Fits>
int Rounds(int64_t extent, const Fits& fits) {
  int64_t rounds = extent < 2 * kMostRounds ? extent : kMostRounds;
  while (rounds > 1 &&
         ((rounds < extent && extent < 2 * rounds) || !fits(rounds))) {
    --rounds;
  }
  return static_cast<int>(std::max<int64_t>(rounds, 1));
}

void AddRounds(const IndexProgram& program, IndexTile& tile) {
  const int64_t instructions = NumInstructions(program) * tile.points();
  const auto fits = [&](int IndexTile::*loop, int64_t rounds) {
    IndexTile larger = tile;
    larger.*loop = static_cast<int>(rounds);
    return rounds * instructions <= kMostInstructions &&
           IsUsual(program, larger);
  };
  int64_t terms = 0;
  for (const StepSum& sum : program.sums) terms = std::max(terms, sum.terms);
  tile.terms = Rounds(
      terms, [&](int64_t rounds) { return fits(&IndexTile::terms, rounds); });
  // Steps with loops of their own follow one another.
  if (program.steps.empty() || !program.sums.empty()) return;
  const int64_t steps =
      program.steps[InnermostStepLoop(program) - program.loops.size()];
  tile.steps = Rounds(
      steps, [&](int64_t rounds) { return fits(&IndexTile::steps, rounds); });
}

GpuLaunch LaunchOfBlocks(int64_t blocks, unsigned threads,
                         int multiprocessors) {
  const int64_t most =
      std::min(multiprocessors * kLaunchedBlocks, kMostGpuThreads / threads);
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

int64_t ThreadWords(const ElementwiseProgram& program) {
  return LiveWords(program, GroupElements(program));
}
int64_t ThreadWords(const RowProgram& program) {
  return LiveWords(program, RowShapeOf(program).group);
}
int64_t ThreadWords(const IndexProgram& program) {
  return LiveWords(program, TileOf(program));
}
int64_t ThreadWords(const JoinedProgram& program) {
  int64_t words = 0;
  for (const IndexProgram& part : program.parts) {
    words = std::max(words, ThreadWords(part));
  }
  return words;
}

bool FitsThread(int64_t thread_words) {
  return thread_words + kRegistersForAddresses <= kMostThreadRegisters;
}

unsigned BlocksOfMultiprocessor(int64_t thread_words, unsigned block_threads) {
  // Threads get registers by eights.
  const int64_t registers =
      std::clamp((thread_words + kRegistersForAddresses + 7) / 8 * 8,
                 kUsualThreadRegisters, kMostThreadRegisters);
  return static_cast<unsigned>(
      std::max<int64_t>(1, kGpuRegisters / (registers * block_threads)));
}

bool MayUnroll(int64_t thread_words) { return IsUsual(4 * thread_words); }

int GroupElements(const ElementwiseProgram& program) {
  if (program.loops.empty()) return 1;
  int64_t group =
      WidestGroup(WidestElement(program, program.operands),
                  static_cast<int64_t>(program.instructions.size()),
                  [&](int count) { return LiveWords(program, count); });
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
                  NumInstructions(program),
                  [&](int count) { return LiveWords(program, count); }),
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
  if (program.loops.empty() || NumPoints(program) == 0) return IndexTile();
  IndexTile tile = PointsOfTile(program);
  AddRounds(program, tile);
  return tile;
}

double InstructionsOf(const IndexProgram& program, const IndexTile& tile) {
  double of_step = BodyInstructions(program, program.step, tile);
  for (const StepSum& sum : program.sums) {
    of_step += static_cast<double>(sum.terms) *
               BodyInstructions(program, sum.body, LoopsOf(sum), tile);
  }
  return BodyInstructions(program, program.first, tile) +
         static_cast<double>(NumSteps(program)) * of_step +
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
