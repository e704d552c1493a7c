// How far `auto` is from the best placement, over random problems.
// SPDX-License-Identifier: Apache-2.0
//
//     bazel run --config=opt //tests/planner:quality_bench -- [PROBLEMS [SEED]]
//
// prints the table of docs/benchmarks.md: PROBLEMS for each machine (default:
// 25), from SEED on (default: 1). A problem with little memory has the graph
// and machine of the one without, and on each device a random part of the bytes
// that the best placement would take on one device.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tests/planner/best_placement.h"
#include "tests/planner/random_problem.h"

namespace partita {
namespace {

constexpr double kNear = 1.05;
// Whole placements: 3 devices take 3^8 = 6561 predictions for 8 nodes.
constexpr ProblemOptions kTwoDevices = {.least_nodes = 8, .most_nodes = 11};
constexpr ProblemOptions kThreeDevices = {.least_nodes = 8, .most_nodes = 8};
// With splits: at most 6 places for each of 4 nodes.
constexpr ProblemOptions kSplit = {.least_nodes = 3, .most_nodes = 4};

struct Tally {
  std::string name;
  int problems = 0;  // that some placement solves
  int near = 0;      // within 5 %
  int refusals = 0;  // of problems that some placement solves
  double worst = 1;  // auto's step over the best
};

void Judge(const PlacementProblem& problem, NodePlaces places, Tally& tally) {
  const std::optional<double> best = BestStep(problem, places);
  if (!best.has_value()) return;
  ++tally.problems;
  const std::optional<double> found = StepOf(problem, {});
  if (!found.has_value()) {
    ++tally.refusals;
    return;
  }
  const double ratio = *found / *best;
  tally.near += ratio <= kNear ? 1 : 0;
  tally.worst = std::max(tally.worst, ratio);
}

// The bytes of the largest arena of the problem on its first device alone.
int64_t BytesOnOneDevice(const PlacementProblem& problem) {
  CompileOptions options;
  options.strategy = "single";
  const auto predicted =
      Predict(problem.module.Clone(), problem.machine, options);
  int64_t bytes = 0;
  if (!predicted.ok()) return bytes;
  for (const DeviceMemoryUse& use : predicted->report.devices) {
    bytes = std::max(bytes, use.arena);
  }
  return bytes;
}

// From 45 to 105 % of the bytes that one device would take for all nodes.
void LimitMemory(uint64_t seed, PlacementProblem& problem) {
  const int64_t bytes = BytesOnOneDevice(problem);
  const auto share = static_cast<int64_t>(45 + seed * 7 % 61);
  for (MachineDevice& device : problem.machine.devices) {
    device.memory = bytes * share / 100;
  }
}

void Print(const Tally& tally) {
  std::printf("| %s | %d | %.1f %% | %.2f | %d |\n", tally.name.c_str(),
              tally.problems,
              tally.problems == 0 ? 0 : 100.0 * tally.near / tally.problems,
              tally.worst, tally.refusals);
  std::fflush(stdout);
}

ProblemOptions SizesFor(MachineShape shape) {
  ProblemOptions options =
      shape == MachineShape::kCpuAndGpus ? kThreeDevices : kTwoDevices;
  options.shape = shape;
  return options;
}

void JudgeShape(MachineShape shape, int problems, uint64_t first_seed) {
  Tally roomy{MachineShapeName(shape)};
  Tally tight{absl::StrCat(roomy.name, ", little memory")};
  Tally split{absl::StrCat(roomy.name, ", split nodes")};
  for (uint64_t seed = first_seed; seed < first_seed + problems; ++seed) {
    PlacementProblem problem = RandomProblem(seed, SizesFor(shape));
    Judge(problem, NodePlaces::kWhole, roomy);
    LimitMemory(seed, problem);
    Judge(problem, NodePlaces::kWhole, tight);
    ProblemOptions small = kSplit;
    small.shape = shape;
    Judge(RandomProblem(seed, small), NodePlaces::kWholeOrSplit, split);
  }
  for (const Tally* tally : {&roomy, &tight, &split}) Print(*tally);
}

int Main(int argc, char** argv) {
  int problems = 25;
  uint64_t seed = 1;
  if ((argc > 1 && !absl::SimpleAtoi(argv[1], &problems)) ||
      (argc > 2 && !absl::SimpleAtoi(argv[2], &seed)) || argc > 3) {
    std::fprintf(stderr, "quality_bench [PROBLEMS [SEED]]\n");
    return 2;
  }
  std::printf(
      "| machine | problems | within 5 %% | worst | refused |\n"
      "| --- | --- | --- | --- | --- |\n");
  for (MachineShape shape : kMachineShapes) JudgeShape(shape, problems, seed);
  return 0;
}

}  // namespace
}  // namespace partita

int main(int argc, char** argv) { return partita::Main(argc, argv); }
