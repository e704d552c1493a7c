// Tests of the cost model and the memory estimate.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "graph/core_ops.h"
#include "graph/device_rates.h"
#include "graph/in_place.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/memory_estimate.h"
#include "placement/cost/sample_graphs.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

// f32[16] is 64 bytes, the alignment.
constexpr int64_t kLine = 16;

Assignment OnDevices(const Graph& graph, const std::vector<int>& devices) {
  Assignment assignment(graph.node_id_bound());
  for (size_t i = 0; i < devices.size(); ++i) {
    if (devices[i] >= 0) assignment[i].devices = {devices[i]};
  }
  return assignment;
}

TEST(DeviceRatesTest, AnUnlistedDtypeCountsAsF32) {
  MachineDevice device = SampleDevice("d", DeviceKind::kCpu, 1);
  device.traits.peak_flops[static_cast<int>(DType::kBF16)] = 4e12;
  EXPECT_EQ(PeakFlops(device.traits, DType::kBF16), 4e12);
  EXPECT_EQ(PeakFlops(device.traits, DType::kI8), 1e12);
}

TEST(CostModelTest, KernelsAndTransfersHaveCostsByDevice) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId y = g.Work("y", {x}, kLine);
  g.Return({y});
  const SampleCatalog catalog(
      [](const std::string&, const DeviceTraits& device) {
        return device.kind == DeviceKind::kCpu ? -1.0 : 0.25;
      },
      100);
  Machine machine = CpuAndGpus(2, 1000);
  machine.links[0].latency = 0.5;  // cpu:0 and gpu:0
  machine.links.pop_back();        // gpu:0 and gpu:1
  const CostModel costs(g.graph(), machine, catalog);
  EXPECT_FALSE(costs.cost(g.node(y), 0).can_run);
  EXPECT_TRUE(costs.cost(g.node(y), 2).can_run);
  EXPECT_EQ(costs.cost(g.node(y), 2).seconds, 0.25);
  EXPECT_EQ(costs.cost(g.node(y), 2).workspace, 100);
  EXPECT_EQ(costs.TransferSeconds(1, 1, 1000), 0);
  EXPECT_DOUBLE_EQ(costs.TransferSeconds(1, 0, 20'000'000'000), 2.5);
  EXPECT_TRUE(std::isinf(costs.TransferSeconds(1, 2, 1)));
  EXPECT_EQ(costs.FindDevice("gpu:1"), 2);
  EXPECT_EQ(costs.FindDevice("gpu:2"), -1);
  EXPECT_EQ(costs.host(), 0);
}

// A catalog that offers several kernels, the first of them the slower.
class TwoKernels final : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits&) const override {
    if (node.is(kFused)) return {};
    std::vector<KernelChoice> choices(2);
    choices[0].seconds = 5;
    choices[1].seconds = 2;
    choices[1].fallback = true;
    return choices;
  }
};

TEST(CostModelTest, TheFastestKernelCounts) {
  SampleGraph g;
  const ValueId y = g.Work("y", {g.Input("x", kLine)}, kLine);
  g.Return({y});
  const Machine machine = EqualCpus(1, 1000);
  const CostModel costs(g.graph(), machine, TwoKernels());
  EXPECT_EQ(costs.cost(g.node(y), 0).seconds, 2);
}

TEST(CostModelTest, AFusedNodeWithoutAKernelCountsAsItsBody) {
  LiteralPool pool;
  auto body = std::make_unique<Graph>("body", &pool);
  const ValueId a = body->AddInput("a", {DType::kF32, {kLine}, {}});
  const ValueId b = *body->AddValue({.op = &kNeg, .operands = {a}});
  body->SetOutputs({*body->AddValue({.op = &kRelu, .operands = {b}})});
  Graph graph("g", &pool);
  NodeSpec spec;
  spec.op = &kFused;
  spec.operands = {graph.AddInput("x", {DType::kF32, {kLine}, {}})};
  spec.regions.push_back(std::move(body));
  const ValueId y = *graph.AddValue(std::move(spec));
  graph.SetOutputs({y});
  const Machine machine = EqualCpus(1, 1000);
  const CostModel costs(graph, machine, TwoKernels());
  const NodeCost& cost = costs.cost(graph.value(y).defining_node, 0);
  EXPECT_TRUE(cost.can_run);
  EXPECT_EQ(cost.seconds, 4);
}

TEST(CostModelTest, AReshapeIsAViewOfItsOperand) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId y = g.Work("y", {x}, kLine);
  NodeSpec spec;
  spec.op = &kReshape;
  spec.operands = {y};
  spec.attributes = {{"shape", std::vector<int64_t>{4, 4}}};
  const ValueId z = g.graph().AddValue(std::move(spec)).value();
  const SampleCatalog none(
      [](const std::string&, const DeviceTraits&) { return -1; });
  const Machine machine = EqualCpus(1, 1);
  const CostModel costs(g.graph(), machine, none);
  EXPECT_TRUE(costs.is_view(g.node(z)));
  EXPECT_TRUE(costs.cost(g.node(z), 0).can_run);
  EXPECT_EQ(costs.root(z), y);
  EXPECT_FALSE(costs.is_view(g.node(y)));
}

TEST(CostModelTest, AConcatWithNothingIsAViewOfTheOtherOperand) {
  SampleGraph g;
  const ValueId none_yet = g.graph().AddInput("past", {DType::kF32, {0}, {}});
  const ValueId y = g.Work("y", {g.Input("x", kLine)}, kLine);
  NodeSpec spec;
  spec.op = &kConcat;
  spec.operands = {none_yet, y};
  spec.attributes = {{"axis", int64_t{0}}};
  const ValueId z = g.graph().AddValue(std::move(spec)).value();
  const Machine machine = EqualCpus(1, 1);
  const CostModel costs(g.graph(), machine, TwoKernels());
  EXPECT_TRUE(costs.is_view(g.node(z)));
  EXPECT_EQ(costs.root(z), y);
}

TEST(MemoryEstimateTest, ValuesAreLiveFromProducerToLastReader) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);             // 64 bytes
  const ValueId w = g.Weight("w", 2 * kLine);        // 128 bytes, node 0
  const ValueId a = g.Work("a", {x, w}, 4 * kLine);  // 256 bytes, node 1
  const ValueId b = g.Work("b", {a}, kLine);         // node 2
  const ValueId c = g.Work("c", {b}, kLine);         // node 3
  g.Return({c});
  const Machine machine = EqualCpus(1, 1);
  const CostModel costs(g.graph(), machine, SampleCatalog());
  const std::vector<EstimatedMemory> memory =
      EstimateMemory(costs, OnDevices(g.graph(), {0, 0, 0, 0}));
  EXPECT_EQ(memory[0].persistent, 128);
  // %w, and at %a: %x and %a; at %b: %a and %b.
  EXPECT_EQ(memory[0].peak, 128 + 64 + 256);
  EXPECT_EQ(memory[0].peak_position, 1);
}

TEST(MemoryEstimateTest, AConstantCountsWithEachReaderAndACopyOnBothSides) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId w = g.Weight("w", 2 * kLine);
  const ValueId a = g.Work("a", {x, w}, 4 * kLine);
  const ValueId b = g.Work("b", {a, w}, kLine);
  g.Return({b});
  const Machine machine = EqualCpus(2, 1);
  const CostModel costs(g.graph(), machine, SampleCatalog());
  const Assignment split = OnDevices(g.graph(), {0, 0, 1});
  const std::vector<EstimatedMemory> memory = EstimateMemory(costs, split);
  EXPECT_EQ(memory[0].persistent, 128);
  EXPECT_EQ(memory[1].persistent, 128);
  EXPECT_EQ(memory[0].peak, 128 + 64 + 256);
  EXPECT_EQ(memory[1].peak, 128 + 256 + 64);
  const std::vector<MemoryHolder> holders = HoldersAtPeak(costs, split, 1);
  ASSERT_EQ(holders.size(), 3u);
  EXPECT_EQ(holders[0].value, a);
  EXPECT_EQ(holders[0].kind, MemoryHolder::Kind::kActivation);
  EXPECT_EQ(holders[1].value, w);
  EXPECT_EQ(holders[1].kind, MemoryHolder::Kind::kConstant);
}

// One kernel. Its library allows in-place results only on cpu:0.
class InPlaceOnOne final : public KernelCatalog {
 public:
  std::vector<KernelChoice> Choices(const OpView& node,
                                    const DeviceTraits& device) const override {
    KernelChoice choice;
    choice.seconds = 1;
    if (device.name == "cpu:0") choice.in_place = ElementwiseInPlace(node);
    return {choice};
  }
};

// A step that updates a variable of 64 bytes from itself and an input.
class UpdatedVariable {
 public:
  UpdatedVariable()
      : graph_(module_.AddFunction("train")), machine_(EqualCpus(2, 1)) {
    module_.AddVariable({.name = "w", .type = line_});
    machine_.devices[1].traits.launch_seconds += 1;  // a query of its own
    g_ = graph_.AddInput("g", line_);
    w_ = *graph_.AddValue(
        {.op = &kVariable,
         .attributes = {{"dtype", DType::kF32},
                        {"name", "w"},
                        {"shape", std::vector<int64_t>{kLine}}}});
  }
  ValueId Add(ValueId a, ValueId b) {
    return *graph_.AddValue({.op = &kAdd, .operands = {a, b}});
  }
  void Update(ValueId value) {
    graph_.mutable_updates().push_back({"w", value});
  }
  int64_t PeakOn(int device, const std::vector<int>& devices) {
    const CostModel costs(graph_, machine_, InPlaceOnOne());
    return EstimateMemory(costs, OnDevices(graph_, devices))[device].peak;
  }
  Graph& graph() { return graph_; }
  ValueId g() const { return g_; }
  ValueId w() const { return w_; }

 private:
  const TensorType line_ = {DType::kF32, {kLine}, {}};
  Module module_;
  Graph& graph_;
  Machine machine_;
  ValueId g_;
  ValueId w_;
};

TEST(MemoryEstimateTest, AnUpdateRunsInPlaceIfTheKernelAllows) {
  UpdatedVariable step;
  const ValueId a = step.Add(step.w(), step.g());
  step.Update(a);
  EXPECT_EQ(step.PeakOn(0, {0, 0}), 64 + 64);
  EXPECT_EQ(step.PeakOn(1, {1, 1}), 64 + 64 + 64);  // no such kernel
  step.graph().SetOutputs({a, step.g()});
  EXPECT_EQ(step.PeakOn(0, {0, 0}), 64 + 64 + 64);
  step.graph().SetOutputs({a});  // overwrites %g
  EXPECT_EQ(step.PeakOn(0, {0, 0}), 64 + 64);
}

TEST(MemoryEstimateTest, AVariableReadLaterOrElsewhereIsNotOverwritten) {
  UpdatedVariable step;
  step.Update(step.Add(step.w(), step.g()));
  step.graph().SetOutputs({step.Add(step.w(), step.g()), step.g()});
  EXPECT_EQ(step.PeakOn(0, {0, 0, 0}), 64 + 64 + 64 + 64);
  EXPECT_EQ(step.PeakOn(0, {0, 0, 1}), 64 + 64 + 64);
}

TEST(MemoryEstimateTest, AVariableThatIsTwoOperandsIsNotOverwritten) {
  UpdatedVariable step;
  step.Update(step.Add(step.w(), step.w()));
  EXPECT_EQ(step.PeakOn(0, {0, 0}), 64 + 64);
}

// A shard of rows of the update overwrites those rows of the variable.
TEST(MemoryEstimateTest, AShardOfAnUpdateRunsInPlace) {
  UpdatedVariable step;
  const ValueId a = step.Add(step.w(), step.g());
  step.Update(a);
  step.graph().SetOutputs({step.g()});
  Machine machine = EqualCpus(2, 1);
  const CostModel costs(step.graph(), machine, InPlaceOnOne());
  Assignment sharded = OnDevices(step.graph(), {0, 0});
  const auto rows = [&](ValueId value) -> NodeDevices& {
    NodeDevices& home = sharded[step.graph().value(value).defining_node.index];
    home.devices = {0, 1};
    home.results = {{.kind = Sharding::Kind::kSplit, .dim = 0}};
    return home;
  };
  rows(a);
  EXPECT_EQ(EstimateMemory(costs, sharded)[0].peak, 64 + 64);
  rows(step.w());
  EXPECT_EQ(EstimateMemory(costs, sharded)[0].peak, 64 + 32);
  rows(a).results[0].kind = Sharding::Kind::kPartial;
  EXPECT_EQ(EstimateMemory(costs, sharded)[0].peak, 64 + 32 + 64);
}

// No result may overwrite %a, which %c reads last.
TEST(MemoryEstimateTest, AResultReusesAnOperandThatNothingElseReads) {
  UpdatedVariable step;
  const ValueId a = step.Add(step.g(), step.g());
  const ValueId b = step.Add(a, a);
  const ValueId c = step.Add(a, b);
  step.graph().SetOutputs({c});
  // %w, %a and %b: %c may overwrite %b.
  EXPECT_EQ(step.PeakOn(0, {0, 0, 0, 0}), 64 + 64 + 64);
  EXPECT_EQ(step.PeakOn(1, {1, 1, 1, 1}), 64 + 64 + 64 + 64);  // no such kernel
}

// Device 0 reads half of %w, device 1 half and all of it.
TEST(MemoryEstimateTest, AConstantThatIsReadAsAShardCountsAsOne) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId w = g.Weight("w", 8 * kLine);
  const ValueId a = g.Work("a", {x, w}, kLine);
  const ValueId b = g.Work("b", {a, w}, kLine);
  g.Return({b});
  const Machine machine = EqualCpus(2, 1);
  const CostModel costs(g.graph(), machine, SampleCatalog());
  Assignment assignment = OnDevices(g.graph(), {0, 0, 1});
  NodeDevices& sharded = assignment[g.node(a).index];
  sharded.devices = {0, 1};
  sharded.operands = {{}, {.kind = Sharding::Kind::kSplit, .dim = 0}};
  sharded.results = {{.kind = Sharding::Kind::kSplit, .dim = 0}};
  const std::vector<EstimatedMemory> memory = EstimateMemory(costs, assignment);
  EXPECT_EQ(memory[0].persistent, 256);
  EXPECT_EQ(memory[1].persistent, 256 + 512);
}

// A sum over micro-batches is live until the last of them.
TEST(MemoryEstimateTest, ASumOverMicroBatchesIsLiveFromTheFirst) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId a = g.Work("a", {x}, 4 * kLine);
  const ValueId b = g.Work("b", {a}, kLine);
  const ValueId sum =
      *g.graph().AddValue({.op = &kAccumulate,
                           .operands = {b},
                           .attributes = {{"micro_batches", int64_t{2}}}});
  g.Return({sum});
  const Machine machine = EqualCpus(1, 1);
  const CostModel costs(g.graph(), machine, SampleCatalog());
  EXPECT_EQ(EstimateMemory(costs, OnDevices(g.graph(), {0, 0, 0}))[0].peak,
            256 + 64 + 64);
}

TEST(MemoryEstimateTest, WorkspaceCountsWhileItsNodeRuns) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId a = g.Work("a", {x}, kLine);
  g.Return({a});
  const SampleCatalog catalog(
      [](const std::string&, const DeviceTraits&) { return 1; }, 1000);
  const Machine machine = EqualCpus(1, 1);
  const CostModel costs(g.graph(), machine, catalog);
  EXPECT_EQ(EstimateMemory(costs, OnDevices(g.graph(), {0}))[0].peak,
            64 + 64 + 1000);
}

}  // namespace
}  // namespace partita
