// Tests of the problems of the quality benchmark, on smaller ones.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/quality.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "placement/machine/machine.h"

namespace partita {
namespace {

PlacementProblem SmallProblem(uint64_t seed, MachineShape shape) {
  return RandomProblem(seed,
                       {.shape = shape, .least_nodes = 3, .most_nodes = 3});
}

double Number(const RowCells& row, const std::string& column) {
  double number = -1;
  for (size_t i = 0; i < row.size(); ++i) {
    if (kQualityColumns[i] != column) continue;
    EXPECT_TRUE(absl::SimpleAtod(row[i], &number));
  }
  return number;
}

TEST(Quality, EightSeedsHaveEveryMachineWithAndWithoutMemory) {
  std::set<std::pair<MachineShape, bool>> found;
  for (uint64_t seed = 100; seed < 108; ++seed) {
    const QualityCase problem_case{NodePlaces::kWhole, seed};
    found.emplace(problem_case.shape(), problem_case.is_tight());
  }
  EXPECT_EQ(found.size(), 8u);
}

TEST(Quality, KeysAreOfTheirSeeds) {
  std::set<std::string> keys;
  for (const QualityCase& problem_case : QualityCases(5)) {
    keys.insert(problem_case.key());
  }
  EXPECT_EQ(keys.size(), 1'200u);
  EXPECT_TRUE(keys.contains("whole/5"));
  EXPECT_TRUE(keys.contains("whole/1004"));
  EXPECT_TRUE(keys.contains("split/204"));
}

TEST(Quality, TightProblemsDifferInTheirMemoryOnly) {
  const QualityCase tight{NodePlaces::kWhole, 4};
  ASSERT_TRUE(tight.is_tight());
  PlacementProblem problem = ProblemOf(tight);
  const int64_t memory = problem.machine.devices[0].memory;
  EXPECT_LT(memory, int64_t{1} << 30);
  EXPECT_GT(memory, 0);
  for (const MachineDevice& device : problem.machine.devices) {
    EXPECT_EQ(device.memory, memory);
  }
  const size_t nodes = problem.nodes.size();
  EXPECT_GE(nodes, 8u);
  EXPECT_LE(nodes, 11u);
}

// The best of all placements, in seconds. No climb leads to one within 5 %.
TEST(Quality, AutoFindsWhatNoClimbLeadsTo) {
  struct Known {
    uint64_t seed;
    double best_seconds;
  };
  for (const Known& known : {Known{181, 553.549e-6}, Known{207, 288.907e-6},
                             Known{213, 959.964e-6}, Known{719, 121.507e-6}}) {
    const PlacementProblem problem =
        ProblemOf({NodePlaces::kWhole, known.seed});
    const std::optional<double> step = StepOf(problem, {});
    ASSERT_TRUE(step.has_value()) << known.seed;
    EXPECT_LE(*step, 1.05 * known.best_seconds) << known.seed;
  }
}

// 11 nodes on three devices have 177,147 placements: few problems are so large.
TEST(Quality, FewProblemsOnThreeDevicesAreLarge) {
  int large = 0;
  for (uint64_t seed = 3; seed < 3 + 32 * 8; seed += 8) {
    const QualityCase problem_case{NodePlaces::kWhole, seed};
    ASSERT_EQ(problem_case.shape(), MachineShape::kCpuAndGpus);
    const size_t nodes = ProblemOf(problem_case).nodes.size();
    EXPECT_GE(nodes, 8u);
    EXPECT_LE(nodes, 11u);
    large += nodes > 9 ? 1 : 0;
  }
  EXPECT_EQ(large, 2);
}

// The two searches agree on three problems, of two and of three devices.
TEST(AllPlacements, FindsTheBestAndItsPins) {
  for (MachineShape shape : {MachineShape::kUnequalCpus, MachineShape::kGpus,
                             MachineShape::kCpuAndGpus}) {
    const PlacementProblem problem = SmallProblem(7, shape);
    const auto devices = static_cast<double>(problem.machine.devices.size());
    const TriedPlacements all = TryAllPlacements(problem, NodePlaces::kWhole);
    EXPECT_EQ(all.tried, std::pow(devices, 3));
    EXPECT_EQ(all.lowered, all.tried);
    CompileOptions options;
    options.strategy = "pinned";
    options.pins = all.best;
    EXPECT_EQ(all.best_seconds, StepOf(problem, options));
  }
}

TEST(AllPlacements, CountsThoseThatFit) {
  PlacementProblem problem = SmallProblem(7, MachineShape::kEqualCpus);
  problem.machine.devices[1].memory = 1;
  const TriedPlacements all = TryAllPlacements(problem, NodePlaces::kWhole);
  EXPECT_EQ(all.tried, 8);
  EXPECT_EQ(all.lowered, 1);
  EXPECT_EQ(PinsText(all.best), "v0=cpu:0 v1=cpu:0 v2=cpu:0");
  problem.machine.devices[0].memory = 1;
  const TriedPlacements none = TryAllPlacements(problem, NodePlaces::kWhole);
  EXPECT_EQ(none.lowered, 0);
  EXPECT_FALSE(none.best_seconds.has_value());
}

TEST(AllPlacements, SplitsAreWrittenAsFlags) {
  EXPECT_EQ(PinsText({{"v0", {"gpu:0", "gpu:1"}, 1}, {"v1", {"cpu:0"}, -1}}),
            "v0=gpu:0,gpu:1/split1 v1=cpu:0");
}

TEST(Quality, ARowHasBothSteps) {
  const QualityCase problem_case{NodePlaces::kWholeOrSplit, 1};
  const PlacementProblem problem = SmallProblem(1, problem_case.shape());
  const auto row = QualityRow(problem_case, problem);
  ASSERT_TRUE(row.ok()) << row.status();
  ASSERT_EQ(row->size(), kQualityColumns.size());
  EXPECT_EQ(Number(*row, "nodes"), 3);
  EXPECT_EQ(Number(*row, "placements"), 125);  // five places for each node
  EXPECT_GT(Number(*row, "lowered"), 8);
  EXPECT_GT(Number(*row, "best us"), 0);
  EXPECT_GT(Number(*row, "auto us"), 0);
  EXPECT_EQ(row->back(), "");
  EXPECT_EQ(*row, *QualityRow(problem_case, problem));
}

TEST(Quality, ARowWithoutAPlanSaysWhy) {
  PlacementProblem problem = SmallProblem(1, MachineShape::kUnequalCpus);
  for (MachineDevice& device : problem.machine.devices) device.memory = 1;
  const auto row = QualityRow({NodePlaces::kWhole, 5}, problem);
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(Number(*row, "lowered"), 0);
  EXPECT_TRUE(absl::StrContains(row->back(), "expected at most 1 B"))
      << row->back();
}

TEST(Quality, WhatIsNoRefusalForMemoryIsAnError) {
  PlacementProblem problem = SmallProblem(1, MachineShape::kUnequalCpus);
  problem.machine.devices.clear();
  EXPECT_FALSE(QualityRow({NodePlaces::kWhole, 1}, problem).ok());
}

}  // namespace
}  // namespace partita
