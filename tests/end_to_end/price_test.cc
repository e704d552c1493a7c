// Planner, compiler and simulator ask one price of a node: over the example
// models, the planner's price is that of the kernel that the node is bound to.
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/core_ops.h"
#include "graph/ops/op_set.h"
#include "graph/shard.h"
#include "graph/text/parser.h"
#include "partita/backends/built_in_catalog.h"
#include "partita/compile.h"
#include "placement/cost/cost_model.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/command_cost.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 36;

// The nodes of plans, by how the planner's price compares with the one that the
// simulator uses.
struct Prices {
  int equal = 0;
  int below = 0;  // the fastest kernel would have cost more in reorders
  int sharded = 0;
  int sums = 0;
};

double PlannerPrice(const CostModel& costs, const OpView& node) {
  if (IsSharded(node)) return costs.sharded_seconds(node.id());
  double seconds = 0;
  for (const std::string& device : node.node().placement.devices) {
    seconds = std::max(seconds,
                       costs.cost(node.id(), costs.FindDevice(device)).seconds);
  }
  return seconds;
}

void Compare(const Entry& entry, const Machine& machine,
             const std::vector<double>& seconds, Prices& prices) {
  const CostModel costs(*entry.graph, machine, BuiltInCatalog());
  for (const OpView& node : entry.graph->ops()) {
    if (!node.node().kernel.has_value() || node.is(kReorder) ||
        costs.is_view(node.id())) {
      continue;
    }
    const double simulated = seconds[node.id().index];
    const double planned = PlannerPrice(costs, node);
    EXPECT_GT(planned, 0) << node.ToString();
    EXPECT_LE(planned, simulated)
        << node.ToString() << " by " << node.node().kernel->kernel;
    ++(planned == simulated ? prices.equal : prices.below);
    prices.sharded += IsSharded(node);
    prices.sums += node.is(kAccumulate);
  }
}

// Also compares what the compiler predicts with what `simulate` computes from
// the plan alone.
void LookAt(absl::StatusOr<Module> module, const Machine& machine,
            const CompileOptions& options, Prices& prices) {
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Compiled> compiled =
      Compile(*std::move(module), machine, options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Plan& plan = compiled->plan;
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    const absl::StatusOr<std::vector<double>> seconds =
        PlacedNodeSeconds(*plan.entries[e].graph, machine, BuiltInCatalog());
    ASSERT_TRUE(seconds.ok()) << seconds.status();
    for (const NodeNote& note : plan.notes->entries[e].nodes) {
      EXPECT_EQ(note.seconds, (*seconds)[note.node.index])
          << plan.entries[e].graph->view(note.node).ToString();
    }
    Compare(plan.entries[e], machine, *seconds, prices);
  }
}

Prices PricesOn(const Machine& machine, const std::string& strategy,
                int micro_batches) {
  Prices prices;
  const CompileOptions options{.strategy = strategy,
                               .micro_batches = micro_batches};
  LookAt(MnistTraining({.batch = 8}), machine, options, prices);
  LookAt(GptTraining({.batch = 8,
                      .layers = 1,
                      .width = 32,
                      .context = 16,
                      .vocabulary = 64,
                      .dropout = 0.1}),
         machine, options, prices);
  if (micro_batches > 1) return prices;
  LookAt(TwoLayerPerceptron(), machine, options, prices);
  LookAt(SmallConvNet(), machine, options, prices);
  LookAt(
      LstmTraining({.batch = 8, .width = 16, .context = 4, .vocabulary = 32}),
      machine, options, prices);
  return prices;
}

// On a CPU the planner's price is lower only where the fastest kernel wants
// layouts that would cost reorders.
TEST(PriceTest, APlannerPricesTheKernelThatACpuRuns) {
  const Prices prices = PricesOn(EqualCpus(1, kRoom), "single", 1);
  EXPECT_GT(prices.equal, 300);
  EXPECT_LT(20 * prices.below, prices.equal);
}

TEST(PriceTest, ShardsAndSumsOverMicroBatchesHaveTheirOwnPrices) {
  const Prices prices = PricesOn(EqualCpus(2, kRoom), "data", 2);
  EXPECT_GT(prices.sharded, 50);
  EXPECT_GT(prices.sums, 15);
  EXPECT_LT(20 * prices.below, prices.equal);
}

double SumOfPrices(const Module& module, const Machine& machine) {
  const CostModel costs(module.main(), machine, BuiltInCatalog());
  double seconds = 0;
  for (NodeId node : costs.order())
    seconds += costs.cost(node, MachineDeviceId(0)).seconds;
  return seconds;
}

// oneDNN adds no mask to products of batches of heads.
absl::StatusOr<Module> Scores() {
  GraphBuilder b("scores");
  const Tensor q = b.Input("q", DType::kF32, {2, 3, 2, 4});
  const Tensor k = b.Input("k", DType::kF32, {2, 3, 2, 4});
  const Tensor mask =
      b.Constant(RandomTensor({DType::kF32, {2, 2}, {}}, 1, -1, 1));
  b.Output("y", MatMul(q, k, {.transpose_b = true}) * 0.5 + mask);
  return b.Build();
}

absl::StatusOr<Module> Optimised(Module module, const Machine& machine) {
  const auto text = CompileTo("optimised", std::move(module), machine, {});
  if (!text.ok()) return text.status();
  return ParseModule(*text, "scores", OpSet::BuiltIn());
}

// The ops in the body of the only fused node.
size_t FusedOps(const Module& module) {
  const std::vector<OpView> fused = module.main().ops(kFused);
  EXPECT_EQ(fused.size(), 1u);
  return fused.size() == 1 ? fused[0].region(0).ops().size() : 0;
}

// The compiled plan of one CPU has a product and one loop, at the planner's
// prices of `source`.
void ExpectProductAndLoop(const Module& source) {
  const Machine machine = EqualCpus(1, kRoom);
  const auto compiled = Compile(source.Clone(), machine, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const Entry& entry = compiled->plan.entries[0];
  EXPECT_EQ(absl::c_count_if(entry.graph->ops(),
                             [](const OpView& node) {
                               return node.node().kernel.has_value();
                             }),
            2);
  double simulated = 0;
  for (const NodeNote& note : compiled->plan.notes->entries[0].nodes) {
    simulated += note.seconds;
  }
  EXPECT_DOUBLE_EQ(SumOfPrices(source, machine), simulated);
}

TEST(PriceTest, WhatNoLibraryFusesIsLeftForALoop) {
  const absl::StatusOr<Module> module = Scores();
  ASSERT_TRUE(module.ok()) << module.status();
  const auto source = Optimised(module->Clone(), EqualCpus(1, kRoom));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(FusedOps(*source), 2u);
  ExpectProductAndLoop(*source);
}

TEST(PriceTest, WhatIsFusedForAGpuCostsOnACpuWhatReplacesIt) {
  const absl::StatusOr<Module> module = Scores();
  ASSERT_TRUE(module.ok()) << module.status();
  const auto source = Optimised(module->Clone(), CpuAndGpus(1, kRoom));
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(FusedOps(*source), 3u);
  ExpectProductAndLoop(*source);
}

// Cost-only kernels are row-major: there is nothing to reorder.
TEST(PriceTest, APlannerPricesTheKernelThatAGpuRuns) {
  const Prices prices = PricesOn(CpuAndGpus(1, kRoom), "single", 1);
  EXPECT_GT(prices.equal, 300);
  EXPECT_EQ(prices.below, 0);
}

}  // namespace
}  // namespace partita
