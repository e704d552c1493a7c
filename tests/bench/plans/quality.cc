// Draws problems, tries all their placements, and asks auto.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/quality.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partita/compile.h"

namespace partita {
namespace {

constexpr int kWholeProblems = 1'000;
constexpr int kSplitProblems = 200;
constexpr int kLeastNodes = 8;
constexpr int kMostNodes = 11;
constexpr int kMostNodesOfMostOnThree = 9;
constexpr uint64_t kOneLargeOnThreeOf = 16;
// With splits, five or six places for each node.
constexpr int kLeastSplitNodes = 3;
constexpr int kMostSplitNodes = 4;

// Machines and memory come again every eight seeds.
constexpr uint64_t kPeriod = 2 * std::size(kMachineShapes);

ProblemOptions SizesOf(const QualityCase& problem_case) {
  const MachineShape shape = problem_case.shape();
  if (problem_case.places == NodePlaces::kWholeOrSplit) {
    return {shape, kLeastSplitNodes, kMostSplitNodes};
  }
  if (shape != MachineShape::kCpuAndGpus) {
    return {shape, kLeastNodes, kMostNodes};
  }
  if ((problem_case.seed / kPeriod + 1) % kOneLargeOnThreeOf == 0) {
    return {shape, kMostNodesOfMostOnThree + 1, kMostNodes};
  }
  return {shape, kLeastNodes, kMostNodesOfMostOnThree};
}

// The largest arena of the whole graph on one device; 0 if no device has
// kernels for all of it.
int64_t BytesOnOneDevice(const PlacementProblem& problem) {
  CompileOptions options;
  options.strategy = "single";
  const absl::StatusOr<Compiled> predicted =
      Predict(problem.module.Clone(), problem.machine, options);
  int64_t bytes = 0;
  if (!predicted.ok()) return bytes;
  for (const DeviceMemoryUse& use : predicted->report.devices) {
    bytes = std::max(bytes, use.arena);
  }
  return bytes;
}

void LimitMemory(uint64_t seed, PlacementProblem& problem) {
  const int64_t bytes = BytesOnOneDevice(problem);
  const auto percent = static_cast<int64_t>(45 + seed * 7 % 61);
  for (MachineDevice& device : problem.machine.devices) {
    device.memory = bytes * percent / 100;
  }
}

}  // namespace

MachineShape QualityCase::shape() const {
  return kMachineShapes[seed % std::size(kMachineShapes)];
}

bool QualityCase::is_tight() const {
  return places == NodePlaces::kWhole &&
         seed / std::size(kMachineShapes) % 2 == 1;
}

std::string QualityCase::key() const {
  return absl::StrCat(places == NodePlaces::kWhole ? "whole/" : "split/", seed);
}

std::vector<QualityCase> QualityCases(uint64_t first_seed) {
  std::vector<QualityCase> cases;
  for (int i = 0; i < kWholeProblems; ++i) {
    cases.push_back({NodePlaces::kWhole, first_seed + i});
  }
  for (int i = 0; i < kSplitProblems; ++i) {
    cases.push_back({NodePlaces::kWholeOrSplit, first_seed + i});
  }
  return cases;
}

PlacementProblem ProblemOf(const QualityCase& problem_case) {
  PlacementProblem problem =
      RandomProblem(problem_case.seed, SizesOf(problem_case));
  if (problem_case.is_tight()) LimitMemory(problem_case.seed, problem);
  return problem;
}

absl::StatusOr<RowCells> QualityRow(const QualityCase& problem_case,
                                    const PlacementProblem& problem) {
  const absl::StatusOr<Compiled> by_auto =
      Predict(problem.module.Clone(), problem.machine);
  if (!by_auto.ok() && !absl::IsResourceExhausted(by_auto.status())) {
    return by_auto.status();
  }
  const TriedPlacements all = TryAllPlacements(problem, problem_case.places);
  std::optional<double> auto_seconds;
  if (by_auto.ok()) auto_seconds = by_auto->report.entries[0].step_seconds;
  return RowCells{
      absl::StrCat(problem_case.seed),
      MachineShapeName(problem_case.shape()),
      problem_case.is_tight() ? "tight" : "ample",
      absl::StrCat(problem.nodes.size()),
      absl::StrCat(all.tried),
      absl::StrCat(all.lowered),
      Microseconds(all.best_seconds),
      Microseconds(auto_seconds),
      by_auto.ok() ? by_auto->report.strategy : "",
      PinsText(all.best),
      by_auto.ok() ? "" : std::string(by_auto.status().message()),
  };
}

}  // namespace partita
