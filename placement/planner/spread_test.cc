// Tests of the strategies that spread a graph: pipeline and list.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <random>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "placement/cost/memory_estimate.h"
#include "placement/cost/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/plan_sample.h"
#include "placement/planner/planner.h"
#include "placement/planner/refusal.h"

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

// The placement's devices in the form of the memory estimate.
Assignment Devices(const CostModel& costs, const PlacementTable& table) {
  Assignment assignment(table.nodes.size());
  for (size_t i = 0; i < table.nodes.size(); ++i) {
    for (const std::string& name : table.nodes[i].placement.devices) {
      assignment[i].devices.push_back(costs.FindDevice(name));
    }
  }
  return assignment;
}

// True if the device can read a value that is made there.
bool Reaches(const CostModel& costs, const NodeDevices& made, int device) {
  return absl::c_any_of(made.devices, [&](int there) {
    return there == device || costs.link(there, device) != nullptr;
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
            "a cpu:0 cheaper_by 6.4 ns\nb cpu:0 cheaper_by 6.4 ns\n"
            "c cpu:1 cheaper_by 1 s\nd cpu:1 cheaper_by 1 s\n"
            "e cpu:1 follows %d\n");
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
            "n0 cpu:0 cheaper_by 6.4 ns\nn1 cpu:0 follows %n0\n"
            "n2 cpu:1 memory_full\nn3 cpu:1 follows %n2\n");
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

// A random graph: each node reads up to three earlier values and perhaps a
// weight.
struct RandomGraph : SampleGraph {
  RandomGraph(int nodes, std::mt19937& random) {
    const auto draw = [&](int least, int most) {
      return std::uniform_int_distribution<int>(least, most)(random);
    };
    std::vector<ValueId> values = {Input("x", 2 * kLine), Input("y", kLine)};
    std::vector<ValueId> weights;
    for (int i = 0; i < 4; ++i) {
      weights.push_back(Weight(absl::StrCat("w", i), draw(1, 6) * kLine));
    }
    for (int i = 0; i < nodes; ++i) {
      std::vector<ValueId> operands;
      for (int k = draw(1, 3); k > 0; --k) {
        const int reach = std::min<int>(8, values.size());
        operands.push_back(values[values.size() - draw(1, reach)]);
      }
      if (draw(0, 2) == 0) operands.push_back(weights[draw(0, 3)]);
      values.push_back(
          Work(absl::StrCat("n", i), operands, draw(1, 8) * kLine));
    }
    Return({values.back(), values[values.size() / 2]});
  }
};

TEST(EveryStrategyTest, LimitsPinsAndLinksHoldOnRandomGraphs) {
  std::mt19937 random(11);
  int placed = 0, refused = 0;
  for (int round = 0; round < 60; ++round) {
    RandomGraph g(5 + round % 40, random);
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
      ++placed;
      const Assignment assignment = Devices(costs, *table);
      const std::vector<EstimatedMemory> memory =
          EstimateMemory(costs, assignment);
      for (size_t d = 0; d < memory.size(); ++d) {
        EXPECT_LE(memory[d].peak, machine.devices[d].usable())
            << planner.name << " round " << round;
      }
      for (const OpView& node : g.graph().ops(kSampleWork)) {
        const auto& here = assignment[node.id().index].devices;
        ASSERT_FALSE(here.empty());
        for (const ValueId operand : node.node().operands) {
          const NodeId maker = g.node(operand);
          if (!maker.valid() || costs.is_stored(maker)) continue;
          for (const int device : here) {
            EXPECT_TRUE(Reaches(costs, assignment[maker.index], device));
          }
        }
        if (node.result(0).name() != "n3") continue;
        EXPECT_EQ(here.front(), costs.num_devices() - 1);
      }
      const auto again = PlanPinned(planner.name, g, machine, pins, catalog);
      EXPECT_EQ(Text(g, table), Text(g, again));
    }
  }
  EXPECT_GT(placed, 60);
  EXPECT_GT(refused, 20);
}

// Seconds of one planning.
double TimeOf(const Planner& planner, const SampleGraph& g,
              const Machine& machine, bool fits) {
  const auto start = std::chrono::steady_clock::now();
  const auto table = PlanBy(planner.name, g, machine);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  EXPECT_EQ(table.ok(), fits) << planner.name << ": " << table.status();
  return took.count();
}

TEST(EveryStrategyTest, TenThousandNodesOnEightDevicesTakeSeconds) {
  std::mt19937 random(13);
  const RandomGraph g(10000, random);
  for (int unequal : {0, 5, 8}) {
    for (bool fits : {true, false}) {
      if (unequal != 0 && !fits) continue;
      Machine machine = EqualCpus(8, fits ? 20000 : 1000);
      for (int d = 0; d < unequal; ++d) {
        machine.devices[d].traits.memory_bandwidth += d;
      }
      for (const Planner& planner : Planners()) {
        const double seconds = TimeOf(planner, g, machine, fits);
        RecordProperty(
            absl::StrCat(planner.name, "_", unequal, fits ? "_fits" : "_not"),
            absl::StrCat(seconds));
        EXPECT_LT(seconds, 20);  // far above what it takes: machines are busy
      }
    }
  }
}

TEST(RefusalTest, ARefusalNamesTheLargestTensors) {
  Chain g(4, 4);
  const auto refused = PlanBy("single", g, EqualCpus(2, 800));
  EXPECT_EQ(Text(g, refused),
            "placement @sample: found 1.1 KiB needed on cpu:0 at work %n0, "
            "352 B too much; expected at most 800 B; largest: %w0 256 B "
            "(constant), %w1 256 B (constant), %w2 256 B (constant), %w3 256 B "
            "(constant), %x 64 B (input)");
  const std::optional<MemoryShortage> shortage = ShortageOf(refused.status());
  ASSERT_TRUE(shortage.has_value());
  EXPECT_EQ(shortage->missing(), 352);
  EXPECT_EQ(MemoryRemedy(*shortage),
            "a machine with at least 1152 B free on cpu:0");
  EXPECT_EQ(shortage->strategy, "");
  absl::Status of_data = absl::ResourceExhaustedError("");
  SetShortage({.device = "cpu:0", .needed = 8, .limit = 7, .strategy = "data"},
              of_data);
  EXPECT_EQ(MemoryRemedy(*ShortageOf(of_data)),
            "a machine with at least 8 B free on cpu:0 for strategy data");
  EXPECT_EQ(Text(g, PlanBy("list", g, EqualCpus(2, 100))),
            "placement @sample: found 640 B needed on cpu:0 at work %n0, 540 B "
            "too much; expected at most 100 B; largest: %w0 256 B (constant), "
            "%w3 256 B (constant), %x 64 B (input), %n0 64 B (activation)");
  EXPECT_FALSE(ShortageOf(absl::ResourceExhaustedError("")).has_value());
}

}  // namespace
}  // namespace partita
