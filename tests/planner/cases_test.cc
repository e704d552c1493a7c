// Problems whose best placements are known.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/compile.h"
#include "placement/machine/machine.h"
#include "tests/planner/best_placement.h"
#include "tests/planner/random_problem.h"

namespace partita {
namespace {

constexpr double kNear = 1.05;
constexpr double kRefused = std::numeric_limits<double>::infinity();

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

PlacementProblem Case(const std::string& name) {
  const std::string path = absl::StrCat("tests/planner/cases/", name);
  const std::string graph = absl::StrCat(path, ".graph");
  return {*ParseModule(TextOf(graph), graph, OpSet::BuiltIn()),
          {},
          *ReadMachine(absl::StrCat(path, ".json"))};
}

double AutoStep(const PlacementProblem& problem) {
  return StepOf(problem, {}).value_or(1);
}

// The seconds of the best whole-node placements.
TEST(Cases, AutoFindsTheBestPlacement) {
  EXPECT_LE(AutoStep(Case("gpus_1015")), kNear * 30.0e-6);
  EXPECT_LE(AutoStep(Case("cpu_gpus_1040")), kNear * 567e-6);
  EXPECT_LE(AutoStep(Case("unequal_cpus_1038")), kNear * 1166e-6);
}

// Every shape of machine, so small that all placements are tried.
TEST(Cases, AutoIsNearTheBestOfRandomProblems) {
  for (MachineShape shape : kMachineShapes) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const PlacementProblem problem = RandomProblem(
          seed, {.shape = shape, .least_nodes = 4, .most_nodes = 4});
      const std::optional<double> best =
          TryAllPlacements(problem, NodePlaces::kWhole).best_seconds;
      ASSERT_TRUE(best.has_value());
      EXPECT_LE(AutoStep(problem), kNear * *best)
          << MachineShapeName(shape) << ", seed " << seed;
    }
  }
}

// A search that starts from drafts without memory limits ends above them.
void ExpectNoWorseThanOthers(const PlacementProblem& problem) {
  const std::optional<double> search = StepOf(problem, {.strategy = "search"});
  for (const char* strategy : {"single", "data", "pipeline", "list"}) {
    const std::optional<double> step = StepOf(problem, {.strategy = strategy});
    if (!step.has_value()) continue;
    EXPECT_LE(search.value_or(kRefused), *step * (1 + 1e-6)) << strategy;
  }
}

TEST(Cases, TheSearchIsNoWorseThanListWithinMemory) {
  const PlacementProblem problem = Case("tight_gpus");
  ExpectNoWorseThanOthers(problem);
  EXPECT_TRUE(StepOf(problem, {.strategy = "list"}).has_value());
}

// All but one of the devices have room for a part of what one device needs.
TEST(Cases, TheSearchIsNoWorseThanAnyStrategyWithinMemory) {
  for (MachineShape shape : kMachineShapes) {
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(absl::StrCat(MachineShapeName(shape), ", seed ", seed));
      PlacementProblem problem = RandomProblem(seed, {.shape = shape});
      const auto alone = Predict(problem.module.Clone(), problem.machine,
                                 {.strategy = "single"});
      ASSERT_TRUE(alone.ok()) << alone.status();
      const int64_t needed = alone->report.devices[0].arena;
      for (size_t d = 1; d < problem.machine.devices.size(); ++d) {
        MachineDevice& device = problem.machine.devices[d];
        device.memory = device.reserve + needed * (4 + seed) / 12;
      }
      ExpectNoWorseThanOthers(problem);
    }
  }
}

TEST(Cases, TheSameProblemLeadsToTheSamePlan) {
  const PlacementProblem problem = Case("gpus_1015");
  const auto first = CompileTo("plan", problem.module.Clone(), problem.machine,
                               {.strategy = "search"});
  const auto second = CompileTo("plan", problem.module.Clone(), problem.machine,
                                {.strategy = "search"});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(*first, *second);
}

// More evaluations find more, and one is enough for a plan.
TEST(Cases, TheBudgetCountsEvaluations) {
  const PlacementProblem problem = Case("gpus_1015");
  CompileOptions options;
  options.strategy = "search";
  options.planner.evaluations = 1;
  const std::optional<double> least = StepOf(problem, options);
  options.planner.evaluations = 4000;
  const std::optional<double> most = StepOf(problem, options);
  ASSERT_TRUE(least.has_value() && most.has_value());
  EXPECT_LE(*most, *least);
  options.planner.evaluations = 0;
  EXPECT_FALSE(StepOf(problem, options).has_value());
}

// A small problem is solved long before the time is over.
TEST(Cases, APlanWithinATimeBudgetSaysSo) {
  const PlacementProblem problem = Case("gpus_1015");
  CompileOptions options;
  options.strategy = "search";
  const std::optional<double> counted = StepOf(problem, options);
  ASSERT_TRUE(counted.has_value());
  options.planner.time_budget_ms = 600'000;
  const absl::StatusOr<Compiled> timed =
      Predict(problem.module.Clone(), problem.machine, options);
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_LE(timed->report.entries[0].step_seconds, *counted);
  EXPECT_TRUE(absl::StartsWith(
      timed->plan.notes->summary,
      "placed by search within 600 s, so another run may place differently"))
      << timed->plan.notes->summary;
  options.planner.time_budget_ms = 0;
  EXPECT_FALSE(StepOf(problem, options).has_value());
}

TEST(Cases, TheSearchReportsItsProgress) {
  const PlacementProblem problem = Case("gpus_1015");
  std::vector<std::string> lines;
  CompileOptions options;
  options.strategy = "search";
  options.progress = [&](absl::string_view line) {
    if (absl::StartsWith(line, "search")) lines.emplace_back(line);
  };
  ASSERT_TRUE(StepOf(problem, options).has_value());
  ASSERT_GT(lines.size(), 1u);
  EXPECT_EQ(lines.front(), "search, draft 1");
  EXPECT_TRUE(absl::StartsWith(
      lines.back(), absl::StrCat("search, draft ", lines.size(), ", best ")))
      << lines.back();
}

}  // namespace
}  // namespace partita
