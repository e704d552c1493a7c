// Tests of the strategies that spread a graph: pipeline and list.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <random>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/plan_sample.h"
#include "placement/planner/planner.h"
#include "placement/planner/random_sample.h"

namespace partita {
namespace {

constexpr int64_t kLine = 16;  // f32 elements of 64 bytes

// "a gpu:0 stage 0\n", computing nodes in order.
std::string Text(const SampleGraph& g,
                 const absl::StatusOr<PlacementTable>& table) {
  if (!table.ok()) return std::string(table.status().message());
  std::string text;
  for (const OpView& node : g.graph().ops(kSampleWork)) {
    const PlacedNode& placed = table->nodes[node.id().index];
    absl::StrAppend(&text, node.result(0).name(), " ",
                    placed.placement.devices[0], " ",
                    ReasonText(g.graph(), placed), "\n");
  }
  return text;
}

// By node id.
std::vector<Placement> PlacementsOf(const PlacementTable& table) {
  std::vector<Placement> placements;
  for (const PlacedNode& node : table.nodes) {
    placements.push_back(node.placement);
  }
  return placements;
}

bool Fits(const SampleGraph& g, const Machine& machine,
          const PlacementTable& table, const SampleCatalog& catalog = {}) {
  const auto needed = SampleBytes(g, machine, PlacementsOf(table), catalog);
  EXPECT_TRUE(needed.ok()) << needed.status();
  for (size_t d = 0; needed.ok() && d < needed->size(); ++d) {
    if ((*needed)[d] > machine.devices[d].usable()) return false;
  }
  return needed.ok();
}

// True if the device can read a value that is made there.
bool Reaches(const CostModel& costs, const Placement& made,
             const std::string& device) {
  return absl::c_any_of(made.devices, [&](const std::string& there) {
    return there == device || costs.link(costs.FindDevice(there),
                                         costs.FindDevice(device)) != nullptr;
  });
}

// x -> n0 -> n1 ..., each with a weight of `weight` lines.
struct Chain : SampleGraph {
  Chain(int length, int64_t weight) {
    ValueId value = Input("x", kLine);
    for (int i = 0; i < length; ++i) {
      const ValueId w = Weight(absl::StrCat("w", i), weight * kLine);
      value = Work(absl::StrCat("n", i), {value, w}, kLine);
    }
    Return({value});
  }
};

// A chain whose nodes each read a variable of four lines. It gets a new value
// that is made from the node's result.
struct TrainedChain : SampleGraph {
  explicit TrainedChain(int length) {
    ValueId value = Input("x", kLine);
    for (int i = 0; i < length; ++i) {
      const std::string variable = absl::StrCat("v", i);
      const ValueId read = Variable(variable, 4 * kLine);
      value = Work(absl::StrCat("n", i), {value, read}, kLine);
      Update(variable, Work(absl::StrCat("u", i), {value}, 4 * kLine));
    }
    Return({value});
  }
};

// Two branches of two nodes each, with a common reader.
struct Diamond : SampleGraph {
  Diamond() {
    const ValueId x = Input("x", kLine);
    const ValueId a = Work("a", {x}, kLine);
    const ValueId b = Work("b", {a}, kLine);
    const ValueId c = Work("c", {x}, kLine);
    const ValueId d = Work("d", {c}, kLine);
    Return({Work("e", {b, d}, kLine)});
  }
};

TEST(PipelineTest, EqualDevicesGetEqualStages) {
  Chain g(4, 1);
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, EqualCpus(2, 10000))),
            "n0 cpu:0 stage 0\nn1 cpu:0 stage 0\n"
            "n2 cpu:1 stage 1\nn3 cpu:1 stage 1\n");
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, EqualCpus(2, 10000), {.stages = 1})),
            "n0 cpu:0 stage 0\nn1 cpu:0 stage 0\n"
            "n2 cpu:0 stage 0\nn3 cpu:0 stage 0\n");
}

TEST(PipelineTest, AFasterDeviceGetsMore) {
  Chain g(4, 1);
  const SampleCatalog catalog(
      [](const std::string&, const DeviceTraits& device) {
        return device.kind == DeviceKind::kCpu ? 3 : 1;
      });
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, CpuAndGpus(1, 10000), {}, catalog)),
            "n0 cpu:0 stage 0\nn1 gpu:0 stage 1\n"
            "n2 gpu:0 stage 1\nn3 gpu:0 stage 1\n");
}

TEST(PipelineTest, MemoryMovesTheCut) {
  Chain g(4, 4);  // weights of 256 bytes
  Machine machine = EqualCpus(2, 10000);
  machine.devices[1].memory = 500;  // one weight and its activations
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, machine)),
            "n0 cpu:0 stage 0\nn1 cpu:0 stage 0\n"
            "n2 cpu:0 stage 0\nn3 cpu:1 stage 1\n");
}

// Each stage stores its weights once, and its other values for each step.
TEST(PipelineTest, AllStepsInFlightCount) {
  Chain g(4, 1);
  Machine machine = EqualCpus(2, 10000);
  machine.devices[1].memory = 340;
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, machine)),
            "n0 cpu:0 stage 0\nn1 cpu:0 stage 0\n"
            "n2 cpu:1 stage 1\nn3 cpu:1 stage 1\n");
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, machine, {}, {}, /*depth=*/2)),
            "n0 cpu:0 stage 0\nn1 cpu:0 stage 0\n"
            "n2 cpu:0 stage 0\nn3 cpu:1 stage 1\n");
}

// Two variables of 256 bytes, a new value of one and, for each of two steps in
// flight, activations of 256 bytes: that is less than with a new value for each
// step.
TEST(PipelineTest, StepsInFlightShareNewValuesOfVariables) {
  TrainedChain g(4);
  Machine machine = EqualCpus(2, 10000);
  machine.devices[1].memory = 1400;
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, machine, {}, {}, /*depth=*/2)),
            "n0 cpu:0 stage 0\nu0 cpu:0 stage 0\n"
            "n1 cpu:0 stage 0\nu1 cpu:0 stage 0\n"
            "n2 cpu:1 stage 1\nu2 cpu:1 stage 1\n"
            "n3 cpu:1 stage 1\nu3 cpu:1 stage 1\n");
}

TEST(PipelineTest, MoreStagesThanDevicesAreRefused) {
  Chain g(4, 1);
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, EqualCpus(2, 1000), {.stages = 3})),
            "stages: found 3; expected at most 2, one device and one node "
            "for each; leave it out to get the best number");
}

TEST(PipelineTest, AChainOfLinksSufficesForAChainOfStages) {
  Chain g(3, 1);
  Machine machine = EqualCpus(3, 10000);
  machine.links.erase(machine.links.begin());  // cpu:0 and cpu:1
  EXPECT_EQ(Text(g, PlanBy("pipeline", g, machine)),
            "n0 cpu:0 stage 0\nn1 cpu:2 stage 1\nn2 cpu:1 stage 2\n");
}

TEST(PipelineTest, PinsAreKept) {
  Chain g(4, 1);
  const Machine machine = EqualCpus(2, 10000);
  EXPECT_EQ(Text(g, PlanPinned("pipeline", g, machine, {{"n0", {"cpu:1"}}})),
            "n0 cpu:1 pinned\nn1 cpu:1 stage 0\n"
            "n2 cpu:0 stage 1\nn3 cpu:0 stage 1\n");
  // No two stages can include these: the pinned nodes are outside.
  const auto table =
      PlanPinned("pipeline", g, machine,
                 {{"n1", {"cpu:1"}}, {"n0", {"cpu:0"}}, {"n2", {"cpu:0"}}});
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE(absl::StrContains(
      Text(g, table), "n0 cpu:0 pinned\nn1 cpu:1 pinned\nn2 cpu:0 pinned\n"));
}

TEST(ListTest, IndependentBranchesRunAtOnce) {
  Diamond g;
  EXPECT_EQ(Text(g, PlanBy("list", g, EqualCpus(2, 10000))),
            "a cpu:0 first_of_equals\nb cpu:0 follows %a\n"
            "c cpu:1 cheaper_by 1 s\nd cpu:1 cheaper_by 1 s\n"
            "e cpu:0 follows %b\n");
}

// No link is taken: both CPUs read inputs in the memory of the host.
TEST(ListTest, InputsAreLocalOnEveryCpu) {
  SampleGraph g;
  const ValueId a = g.Work("a", {g.Input("x", kLine)}, kLine);
  const ValueId b = g.Work("b", {g.Input("y", kLine)}, kLine);
  g.Return({a, b});
  Machine machine = EqualCpus(2, 10000);
  machine.links[0].latency = 10;
  const auto table = PlanBy("list", g, machine);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_NE(table->nodes[g.node(a).index].placement,
            table->nodes[g.node(b).index].placement);
}

TEST(ListTest, AChainStaysOnTheFastestDevice) {
  Chain g(2, 1);
  const SampleCatalog catalog(
      [](const std::string&, const DeviceTraits& device) {
        return device.kind == DeviceKind::kCpu ? 3 : 1;
      });
  EXPECT_EQ(Text(g, PlanBy("list", g, CpuAndGpus(2, 10000), {}, catalog)),
            "n0 gpu:0 first_of_equals\nn1 gpu:0 follows %n0\n");
}

TEST(ListTest, AFullDeviceGivesWayToTheNext) {
  Chain g(4, 4);  // weights of 256 bytes
  EXPECT_EQ(Text(g, PlanBy("list", g, EqualCpus(2, 800))),
            "n0 cpu:0 first_of_equals\nn1 cpu:0 follows %n0\n"
            "n2 cpu:1 memory_full\nn3 cpu:1 follows %n2\n");
}

TEST(ListTest, AllStepsInFlightCount) {
  Chain g(2, 1);
  const Machine machine = EqualCpus(2, 350);
  EXPECT_EQ(Text(g, PlanBy("list", g, machine)),
            "n0 cpu:0 first_of_equals\nn1 cpu:0 follows %n0\n");
  EXPECT_EQ(Text(g, PlanBy("list", g, machine, {}, {}, /*depth=*/2)),
            "n0 cpu:0 first_of_equals\nn1 cpu:1 memory_full\n");
}

TEST(ListTest, ANodeWithOneKernelGoesThere) {
  Chain g(2, 1);
  const SampleCatalog catalog(
      [](const std::string& name, const DeviceTraits& device) {
        return (name == "n0") == (device.kind == DeviceKind::kCpu) ? 1 : -1;
      });
  EXPECT_EQ(Text(g, PlanBy("list", g, CpuAndGpus(1, 10000), {}, catalog)),
            "n0 cpu:0 only_kernel\nn1 gpu:0 only_kernel\n");
}

TEST(EveryStrategyTest, PinsAndLinksHoldOnRandomGraphs) {
  std::mt19937 random(11);
  int placed = 0, missed = 0, refused = 0;
  for (int round = 0; round < 60; ++round) {
    RandomSample g(5 + round % 40, random);
    Machine machine = CpuAndGpus(round % 4, 600 + 200 * (round % 30));
    machine.devices[0].memory = 800 + 100 * (round % 50);
    if (round % 5 == 4 && machine.links.size() > 2) machine.links.pop_back();
    const std::vector<Pin> pins = {
        {"n3", {machine.devices.back().traits.name}}};
    const SampleCatalog catalog(
        [](const std::string&, const DeviceTraits& device) {
          return device.kind == DeviceKind::kCpu ? 4e-8 : 1e-8;
        },
        64);
    const CostModel costs(g.graph(), machine, catalog);
    for (const Planner& planner : Planners()) {
      const auto table = PlanPinned(planner.name, g, machine, pins, catalog);
      if (!table.ok()) {
        EXPECT_FALSE(table.status().message().empty());
        ++refused;
        continue;
      }
      ++(Fits(g, machine, *table, catalog) ? placed : missed);
      const std::vector<Placement> placements = PlacementsOf(*table);
      for (const OpView& node : g.graph().ops(kSampleWork)) {
        const auto& here = placements[node.id().index].devices;
        ASSERT_FALSE(here.empty());
        for (const ValueId operand : node.node().operands) {
          const NodeId maker = g.node(operand);
          if (!maker.valid() || costs.is_stored(maker)) continue;
          for (const std::string& device : here) {
            EXPECT_TRUE(Reaches(costs, placements[maker.index], device));
          }
        }
        if (node.result(0).name() != "n3") continue;
        EXPECT_EQ(here.front(), machine.devices.back().traits.name);
      }
      const auto again = PlanPinned(planner.name, g, machine, pins, catalog);
      EXPECT_EQ(Text(g, table), Text(g, again));
    }
  }
  EXPECT_GT(placed, 60);
  EXPECT_GT(missed + refused, 20);
}

// tests/bench/planner_bench says how long it takes. Work that is quadratic in
// the number of nodes would end in the test's timeout.
TEST(EveryStrategyTest, TenThousandNodesOnEightDevicesArePlanned) {
  std::mt19937 random(13);
  const RandomSample g(10000, random);
  for (int unequal : {0, 5, 8}) {
    for (bool fits : {true, false}) {
      if (unequal != 0 && !fits) continue;
      const Machine machine = UnequalCpus(8, unequal, fits ? 20000 : 1000);
      for (const Planner& planner : Planners()) {
        const auto table = PlanBy(planner.name, g, machine);
        EXPECT_TRUE(table.ok()) << planner.name << ": " << table.status();
      }
    }
  }
}

// Two weights of 256 bytes over two devices, each with memory for one and its
// activations: whatever a strategy assumes, lowering counts each device alone.
TEST(EveryStrategyTest, WeightsOnSeveralDevicesCountWhereTheyAre) {
  Chain g(2, 4);
  const Machine machine = EqualCpus(2, 256 + 2 * 64);
  for (const char* strategy : {"pinned", "pipeline", "list"}) {
    const auto table = PlanPinned(strategy, g, machine,
                                  {{"n0", {"cpu:0"}}, {"n1", {"cpu:1"}}});
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_TRUE(Fits(g, machine, *table)) << strategy;
  }
  EXPECT_FALSE(Fits(g, machine,
                    *PlanPinned("pinned", g, machine,
                                {{"n0", {"cpu:0"}}, {"n1", {"cpu:0"}}})));
}

// No placement fits: the strategy returns the one that misses least.
TEST(EveryStrategyTest, TheDraftThatMissesLeastIsReturned) {
  Chain g(4, 4);
  Machine machine = EqualCpus(2, 100);
  machine.devices[1].memory = 400;
  EXPECT_EQ(PlanBy("single", g, machine)->nodes.back().placement.devices[0],
            "cpu:1");
}

}  // namespace
}  // namespace partita
