// Tests that constraints hold for nodes that passes fuse.
// SPDX-License-Identifier: Apache-2.0

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

// Three nodes in sequence are one kernel, if nothing forbids it.
constexpr char kTwoChains[] = R"(
graph @f(%x: f32[1048576], %y: f32[1048576]) -> (f32[1048576], f32[1048576]) {
  %a = exp %x : f32[1048576]
  %b = neg %a : f32[1048576]
  %c = abs %b : f32[1048576]
  %d = exp %y : f32[1048576]
  %e = neg %d : f32[1048576]
  %f = abs %e : f32[1048576]
  return %c, %f
}
)";

// Slow devices: two chains take half the time of both on one.
Machine TwoSlowCpus() {
  Machine machine = EqualCpus(2, int64_t{1} << 30);
  for (MachineDevice& device : machine.devices) {
    device.traits.peak_flops[static_cast<int>(DType::kF32)] = 1e9;
    device.traits.memory_bandwidth = 1e9;
  }
  return machine;
}

using Devices = std::set<std::string>;

// Of each kernel of the source, by order of the graph.
std::vector<Devices> DevicesWith(const std::vector<Constraint>& constraints) {
  CompileOptions options;
  options.strategy = "search";
  options.planner.constraints = constraints;
  const auto compiled =
      Predict(*ParseModule(kTwoChains, "chains", OpSet::BuiltIn()),
              TwoSlowCpus(), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  std::vector<Devices> placed;
  if (!compiled.ok()) return placed;
  for (const OpView& node : compiled->plan.entries[0].graph->ops()) {
    if (node.op().traits.placed_only) continue;
    const auto& devices = node.node().placement.devices;
    placed.emplace_back(devices.begin(), devices.end());
  }
  return placed;
}

TEST(ConstraintFusionTest, WithoutConstraintsEachChainIsAKernel) {
  const std::vector<Devices> placed = DevicesWith({});
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_NE(placed[0], placed[1]);
}

// Both nodes are inside fused ones.
TEST(ConstraintFusionTest, FusedNodesStayTogether) {
  const std::vector<Devices> placed =
      DevicesWith({{Constraint::Kind::kTogether, {"a", "d"}}});
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(placed[0], placed[1]);
}

// %b goes with one of its neighbours.
TEST(ConstraintFusionTest, NodesThatMustBeApartAreNotFused) {
  const std::vector<Devices> placed =
      DevicesWith({{Constraint::Kind::kApart, {"a", "c"}}});
  ASSERT_EQ(placed.size(), 3u);
  Devices all;
  size_t sum = 0;
  for (size_t i = 0; i < 2; ++i) {
    all.insert(placed[i].begin(), placed[i].end());
    sum += placed[i].size();
  }
  EXPECT_EQ(all.size(), sum);
}

}  // namespace
}  // namespace partita
