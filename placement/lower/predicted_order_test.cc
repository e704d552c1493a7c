// Tests the choice between launch orders by predictions.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placement/lower/lower_fixture.h"
#include "placement/lower/step_predictor.h"
#include "placement/partition/partition.h"
#include "placement/simulate/simulate.h"
#include "runtime/plan/checker/check_plan.h"
#include "runtime/plan/plan_text.h"

namespace partita {
namespace {

Plan Proved(absl::StatusOr<Plan> plan) {
  EXPECT_TRUE(plan.ok()) << plan.status();
  if (!plan.ok()) return Plan();
  const absl::StatusOr<Certificate> proof = CheckPlan(*plan);
  EXPECT_TRUE(proof.ok()) << proof.status() << PrintPlan(*plan);
  return *std::move(plan);
}

// A second for every kernel, nothing for all else.
std::optional<PredictedStep> KernelSeconds(const Machine& machine,
                                           Entry entry) {
  const std::vector<double> seconds(entry.graph->node_id_bound(), 1);
  Plan plan;
  for (const MachineDevice& device : machine.devices) {
    plan.devices.push_back({.traits = device.traits});
  }
  plan.entries.push_back(std::move(entry));
  const auto simulation = Simulate(plan, 0, machine, seconds);
  const auto commands = Expand(plan.entries[0]);
  if (!simulation.ok() || !commands.ok()) return std::nullopt;
  PredictedStep predicted{simulation->step_seconds, {}};
  for (CommandId id : simulation->commands.ids()) {
    const Command::Kind kind = (*commands)[id].kind;
    if (kind == Command::Kind::kRecord || kind == Command::Kind::kWait) {
      continue;
    }
    const SimulatedCommand& command = simulation->commands[id];
    predicted.command_seconds.push_back(command.end - command.start);
  }
  return predicted;
}

// The other device waits for %a. In the graph's order %a is last, and no other
// order has a smaller peak.
constexpr char kLateProducer[] = R"(
graph @f(%x: f32[4096], %y: f32[4096]) -> (f32[4096], f32[4096]) {
  %b = exp %y : f32[4096] on gpu:0
  %c = exp %b : f32[4096] on gpu:0
  %a = abs %x : f32[4096] on gpu:0
  %d = neg %a : f32[4096] on gpu:1
  %e = neg %d : f32[4096] on gpu:1
  %f = add %a, %c : f32[4096] on gpu:0
  return %f, %e
}
)";

// By the `on DEVICE` of its nodes, with test kernels.
void PartitionAsWritten(Graph& graph, const Machine& machine) {
  std::vector<Placement> placements(graph.node_id_bound());
  for (const OpView& op : graph.ops()) {
    placements[op.id().index] = op.node().placement;
  }
  EXPECT_TRUE(Partition(graph, placements, machine).ok());
  BindTestKernels(graph);
}

// The first kernel in launch order, and the predicted seconds.
std::pair<std::string, double> FirstKernel(const std::string& text,
                                           const StepPredictor& predict) {
  const Machine machine = LinkedMachine(2);
  Module module = ModuleOf(text);
  Graph& graph = *module.functions()[0];
  PartitionAsWritten(graph, machine);
  const Lowering lowering(machine, {});
  const auto counted = lowering.CountLiveBytes(graph, 0, predict);
  EXPECT_TRUE(counted.ok()) << counted.status();
  if (!counted.ok()) return {};
  for (const Task& task : counted->fast.draft.tasks) {
    if (task.kind != Command::Kind::kKernel) continue;
    return {std::string(graph.view(task.instance.node).result(0).name()),
            counted->fast.step_seconds.value_or(0)};
  }
  return {};
}

TEST(PredictedOrderTest, WithAPredictorTheFastestOrderIsTaken) {
  const Machine machine = LinkedMachine(2);
  const StepPredictor predict = [&](Entry entry) {
    return KernelSeconds(machine, std::move(entry));
  };
  EXPECT_EQ(FirstKernel(kLateProducer, nullptr).first, "b");
  const auto [first, seconds] = FirstKernel(kLateProducer, predict);
  EXPECT_EQ(first, "a");
  // %a, %b, %c and %f on one device, beside %d and %e.
  EXPECT_NEAR(seconds, 4, 0.01);
}

// gpu:1 waits for %a. If that is first, its bytes are copied while %y is fed
// and read; after %b it takes the bytes of %y.
constexpr char kSecondInputFirst[] = R"(
graph @f(%x: f32[4096], %y: f32[4096]) -> (f32[1], f32[4096]) {
  %b = reduce_max %y {axes = [0]} : f32[1] on gpu:0
  %a = abs %x : f32[4096] on gpu:0
  %d = neg %a : f32[4096] on gpu:1
  %e = neg %d : f32[4096] on gpu:1
  return %b, %e
}
)";

// Of a plan that the checker accepts.
CountedPlan FiguresFor(std::optional<LeastMemory> least_memory) {
  const Machine machine = LinkedMachine(2);
  Module module = ModuleOf(kSecondInputFirst);
  Graph& graph = *module.functions()[0];
  PartitionAsWritten(graph, machine);
  const Lowering lowering(machine, {.least_memory = least_memory});
  absl::StatusOr<CountedFunction> counted = lowering.CountLiveBytes(
      graph, 0,
      [&](Entry entry) { return KernelSeconds(machine, std::move(entry)); });
  EXPECT_TRUE(counted.ok()) << counted.status();
  if (!counted.ok()) return {};
  const absl::StatusOr<CountedPlan> figures = lowering.Figures({&*counted});
  EXPECT_TRUE(figures.ok()) << figures.status();
  std::vector<CountedFunction> functions;
  functions.push_back(*std::move(counted));
  const Plan plan =
      Proved(lowering.Finish(std::move(module), std::move(functions)));
  EXPECT_EQ(plan.devices[0].persistent_bytes + plan.devices[0].step_bytes,
            figures->needed_bytes[0]);
  return *figures;
}

TEST(PredictedOrderTest, ForLeastMemoryTheOrderWithLessBytesIsTaken) {
  const CountedPlan fast = FiguresFor(std::nullopt);
  EXPECT_NEAR(*fast.step_seconds, 3, 0.01);
  const CountedPlan small = FiguresFor(LeastMemory());
  EXPECT_NEAR(*small.step_seconds, 4, 0.01);
  EXPECT_LE(small.needed_bytes[0], fast.needed_bytes[0] - 4096 * 4);
  const CountedPlan within = FiguresFor(LeastMemory{3.5});
  EXPECT_EQ(within.step_seconds, fast.step_seconds);
  EXPECT_EQ(within.needed_bytes, fast.needed_bytes);
}

// Its prediction fails, so memory decides.
TEST(PredictedOrderTest, WithoutAPredictionTheLeastPeakIsTaken) {
  const StepPredictor fails = [](Entry) { return std::nullopt; };
  EXPECT_EQ(FirstKernel(kLateProducer, fails).first, "b");
}

}  // namespace
}  // namespace partita
