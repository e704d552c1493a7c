// Lowers random graphs with random placements: plans are proved, correct,
// small, and have no redundant wait.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "placement/lower/lower_fixture.h"
#include "placement/lower/memory_bound.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_text.h"
#include "tests/lowering/sequential_bound.h"
#include "tests/random_graph/random_graph.h"

namespace partita {
namespace {

constexpr double kSlack = 1.05;

uint32_t Next(uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(state >> 33);
}

// Neighbours mostly share a device, as after a planner.
Module PlacedRandomGraph(uint64_t seed, int devices, int steps) {
  RandomGraphOptions options;
  options.steps = steps;
  options.dead_nodes = false;
  options.discrete = seed % 2 == 0;
  Module module = RandomGraph(seed, options);
  uint64_t state = seed + 1;
  int device = 0;
  for (const OpView& op : module.main().ops()) {
    if (Next(state) % 3 == 0) device = Next(state) % devices;
    module.main().node(op.id()).placement.devices = {
        absl::StrCat("gpu:", device)};
  }
  return module;
}

std::string Without(const Plan& plan, size_t command, Plan& changed) {
  Program& program = changed.entries[0].programs[0];
  program.commands = plan.entries[0].programs[0].commands;
  program.commands.erase(program.commands.begin() + command);
  const absl::StatusOr<Certificate> proof = CheckPlan(changed);
  return proof.ok() ? "accepted" : "refused";
}

// ./test --full runs ten times as many.
int Graphs() { return std::getenv("PARTITA_FULL") != nullptr ? 400 : 40; }

class RandomLowering : public testing::TestWithParam<int> {};

TEST_P(RandomLowering, IsProvedAndRunsLikeEvalWithinTheBounds) {
  const int devices = GetParam();
  for (int seed = 0; seed < Graphs(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const int steps = 4 + seed;
    const Module module = PlacedRandomGraph(seed, devices, steps);
    const absl::StatusOr<Plan> plan =
        PlanOf(PlacedRandomGraph(seed, devices, steps), LinkedMachine(devices));
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
    ASSERT_TRUE(proof.ok()) << proof.status() << PrintPlan(*plan);
    const absl::Status runs = RunsLikeEval(module, *plan);
    ASSERT_TRUE(runs.ok()) << runs << PrintPlan(*plan);
    const Entry& entry = plan->entries[0];
    const auto bounds = BoundMemory(*plan, entry);
    ASSERT_TRUE(bounds.ok()) << bounds.status();
    for (size_t d = 0; d < plan->devices.size(); ++d) {
      EXPECT_GE(plan->devices[d].step_bytes, (*bounds)[d].bound_bytes);
      EXPECT_LE(plan->devices[d].step_bytes, kSlack * (*bounds)[d].bound_bytes)
          << "device " << d << PrintPlan(*plan);
    }
    if (plan->devices.size() > 1) continue;
    EXPECT_LE(plan->devices[0].step_bytes, kSlack * SequentialBound(entry))
        << PrintPlan(*plan);
  }
}

// Greedy packing alone takes 5.5 % more than the bound here.
TEST(LoweringOfRandomGraphs, AHardPackingStaysWithinTheBound) {
  const auto plan = PlanOf(PlacedRandomGraph(154, 1, 158), LinkedMachine(1));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_LE(plan->devices[0].step_bytes,
            kSlack * SequentialBound(plan->entries[0]));
}

// Replaces some inputs by variables, and updates some of those by values of the
// graph.
Module WithVariables(uint64_t seed, int devices) {
  Module module = PlacedRandomGraph(seed, devices, 24);
  Graph& graph = module.main();
  uint64_t state = seed;
  for (ValueId input : graph.inputs()) {
    const TensorType type = graph.type(input);
    const std::string name = absl::StrCat("v", graph.value(input).index);
    module.AddVariable({.name = name,
                        .type = type,
                        .initial = module.literals().Add(HostTensor(type))});
    NodeSpec spec{
        .op = &kVariable,
        .attributes = {{"name", name},
                       {"dtype", type.dtype},
                       {"shape", std::vector<int64_t>(type.dims.begin(),
                                                      type.dims.end())}}};
    spec.placement.devices = {absl::StrCat("gpu:", Next(state) % devices)};
    const std::vector<NodeId> order = graph.order();
    const ValueId variable = *graph.AddValue(
        std::move(spec), order.empty() ? NodeId() : order.front());
    graph.ReplaceAllUses(input, variable);
    std::vector<ValueId> alike;
    for (int i = 0; i < graph.value_id_bound(); ++i) {
      if (graph.type(ValueId(i)) == type) alike.push_back(ValueId(i));
    }
    if (Next(state) % 4 == 0) continue;
    graph.AddUpdate({name, alike[Next(state) % alike.size()]});
  }
  return module;
}

TEST_P(RandomLowering, UpdatesOfVariablesAreProvedAndRunLikeEval) {
  const int devices = GetParam();
  for (uint64_t seed = 400; seed < 440; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Module module = WithVariables(seed, devices);
    const auto plan =
        PlanOf(WithVariables(seed, devices), LinkedMachine(devices));
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
    ASSERT_TRUE(proof.ok()) << proof.status() << PrintPlan(*plan);
    const absl::Status runs = RunsLikeEval(module, *plan);
    ASSERT_TRUE(runs.ok()) << runs << PrintPlan(*plan);
  }
}

// Dimensions of the only result along which the node may be split into `shards`
// shards.
std::vector<int> SplitDimsOf(const OpView& op, int shards) {
  const DimensionRule rule = op.op().dimension_rule(op);
  std::vector<int> split_dims;
  if (op.num_results() != 1) return split_dims;
  for (size_t d = 0; d < rule.results[0].size(); ++d) {
    const auto& product = rule.results[0][d];
    if (product.size() != 1) continue;
    const int factor = product.front();
    bool alone = rule.factors[factor].kind == Factor::Kind::kKept &&
                 rule.factors[factor].size >= shards;
    for (const DimensionRule::Dims& dims : rule.operands) {
      for (const auto& other : dims) {
        alone &= other.size() < 2 ||
                 std::count(other.begin(), other.end(), factor) == 0;
      }
    }
    if (alone) split_dims.push_back(static_cast<int>(d));
  }
  return split_dims;
}

// Most nodes run on several devices, replicated or split.
Module ShardedRandomGraph(uint64_t seed, int devices) {
  Module module = PlacedRandomGraph(seed, devices, 16);
  uint64_t state = seed;
  for (const OpView& op : module.main().ops()) {
    if (op.is(kConstant) || Next(state) % 4 == 0) continue;
    Placement placement;
    const int count = 1 + static_cast<int>(Next(state) % devices);
    const int first = static_cast<int>(Next(state) % devices);
    for (int i = 0; i < count; ++i) {
      placement.devices.push_back(absl::StrCat("gpu:", (first + i) % devices));
    }
    const std::vector<int> split_dims = SplitDimsOf(op, count);
    if (count > 1 && !split_dims.empty() && Next(state) % 4 != 0) {
      placement.results = {
          {.kind = Sharding::Kind::kSplit,
           .dim = split_dims[Next(state) % split_dims.size()]}};
    }
    module.main().node(op.id()).placement = placement;
  }
  return module;
}

TEST_P(RandomLowering, ShardedNodesAreProvedAndRunLikeEval) {
  const int devices = GetParam();
  for (uint64_t seed = 500; seed < 506; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Module module = ShardedRandomGraph(seed, devices);
    const auto plan =
        PlanOf(ShardedRandomGraph(seed, devices), LinkedMachine(devices));
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
    ASSERT_TRUE(proof.ok()) << proof.status() << PrintPlan(*plan);
    const absl::Status runs = RunsLikeEval(module, *plan);
    ASSERT_TRUE(runs.ok()) << runs << PrintPlan(*plan);
  }
}

TEST_P(RandomLowering, EveryRecordAndWaitIsNeeded) {
  const int devices = GetParam();
  for (uint64_t seed = 100; seed < 106; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    absl::StatusOr<Plan> plan =
        PlanOf(PlacedRandomGraph(seed, devices, 20), LinkedMachine(devices));
    absl::StatusOr<Plan> changed =
        PlanOf(PlacedRandomGraph(seed, devices, 20), LinkedMachine(devices));
    ASSERT_TRUE(plan.ok() && changed.ok());
    const std::vector<Command>& commands =
        plan->entries[0].programs[0].commands;
    for (size_t i = 0; i < commands.size(); ++i) {
      if (commands[i].kind != Command::Kind::kWait &&
          commands[i].kind != Command::Kind::kRecord) {
        continue;
      }
      EXPECT_EQ(Without(*plan, i, *changed), "refused")
          << "command " << i << PrintPlan(*plan);
    }
  }
}

TEST_P(RandomLowering, TheSameInputGivesTheSamePlan) {
  const int devices = GetParam();
  for (uint64_t seed = 200; seed < 205; ++seed) {
    const auto a =
        PlanOf(PlacedRandomGraph(seed, devices, 30), LinkedMachine(devices));
    const auto b =
        PlanOf(PlacedRandomGraph(seed, devices, 30), LinkedMachine(devices));
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(PrintPlan(*a), PrintPlan(*b));
  }
}

TEST_P(RandomLowering, OverlappingStepsAreProved) {
  const int devices = GetParam();
  for (uint64_t seed = 300; seed < 305; ++seed) {
    const Module module = PlacedRandomGraph(seed, devices, 20);
    const auto plan = PlanOf(PlacedRandomGraph(seed, devices, 20),
                             LinkedMachine(devices), {.depth = 2});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
    EXPECT_TRUE(proof.ok()) << proof.status();
    EXPECT_TRUE(RunsLikeEval(module, *plan).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RandomLowering, testing::Range(1, 5));

}  // namespace
}  // namespace partita
