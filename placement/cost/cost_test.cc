// Tests of the cost model.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "graph/core_ops.h"
#include "graph/device_rates.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

// f32[16] is 64 bytes, the alignment.
constexpr int64_t kLine = 16;

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
  EXPECT_FALSE(costs.cost(g.node(y), MachineDeviceId(0)).can_run);
  EXPECT_TRUE(costs.cost(g.node(y), MachineDeviceId(2)).can_run);
  EXPECT_EQ(costs.cost(g.node(y), MachineDeviceId(2)).seconds, 0.25);
  EXPECT_EQ(costs.cost(g.node(y), MachineDeviceId(2)).workspace, 100);
  EXPECT_EQ(costs.TransferSeconds(MachineDeviceId(1), MachineDeviceId(1), 1000),
            0);
  EXPECT_DOUBLE_EQ(costs.TransferSeconds(MachineDeviceId(1), MachineDeviceId(0),
                                         20'000'000'000),
                   2.5);
  EXPECT_TRUE(std::isinf(
      costs.TransferSeconds(MachineDeviceId(1), MachineDeviceId(2), 1)));
  EXPECT_EQ(costs.FindDevice("gpu:1"), MachineDeviceId(2));
  EXPECT_FALSE(costs.FindDevice("gpu:2").valid());
  EXPECT_EQ(costs.host(), MachineDeviceId(0));
}

TEST(CostModelTest, PortsTakeALinkToTheHost) {
  SampleGraph g;
  g.Return({g.Work("y", {g.Input("x", kLine)}, kLine)});
  const SampleCatalog catalog;
  Machine machine = CpuAndGpus(2, 1000);
  machine.links.erase(machine.links.begin() + 1);  // cpu:0 and gpu:1
  const CostModel costs(g.graph(), machine, catalog);
  EXPECT_EQ(costs.port_link(MachineDeviceId(0)), nullptr);
  EXPECT_EQ(costs.port_link(MachineDeviceId(1)), &machine.links[0]);
  EXPECT_TRUE(costs.has_ports(MachineDeviceId(0)));
  EXPECT_TRUE(costs.has_ports(MachineDeviceId(1)));
  EXPECT_FALSE(costs.has_ports(MachineDeviceId(2)));
  // Without a CPU, copies are local.
  Machine gpus = machine;
  gpus.devices.erase(gpus.devices.begin());
  gpus.links.clear();
  EXPECT_TRUE(
      CostModel(g.graph(), gpus, catalog).has_ports(MachineDeviceId(1)));
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
  EXPECT_EQ(costs.cost(g.node(y), MachineDeviceId(0)).seconds, 2);
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
  const NodeCost& cost =
      costs.cost(graph.value(y).defining_node, MachineDeviceId(0));
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
  EXPECT_TRUE(costs.cost(g.node(z), MachineDeviceId(0)).can_run);
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

}  // namespace
}  // namespace partita
