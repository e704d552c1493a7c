// Lower bounds of small graphs, by hand.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/lower_bound.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/core_ops.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/device_groups.h"
#include "placement/simulate/load_bound.h"

namespace partita {
namespace {

constexpr int64_t kRoom = int64_t{1} << 36;
// f32[16] is 64 bytes. Ports of it at SampleDevice's rates take some 1e-9
// seconds.
constexpr int64_t kLine = 16;
constexpr double kNoPorts = 1e-6;

// A feed or fetch of 64 bytes takes 0.25 seconds to launch and 1 to copy.
Machine SlowCpus(int cpus) {
  Machine machine = EqualCpus(cpus, kRoom);
  for (MachineDevice& device : machine.devices) {
    device.traits.memory_bandwidth = 128;
    device.traits.launch_seconds = 0.25;
  }
  return machine;
}

SampleCatalog AllTake(double seconds) {
  return SampleCatalog(
      [seconds](const std::string&, const DeviceTraits&) { return seconds; });
}

// 4 seconds on a CPU, 1 on a GPU.
SampleCatalog FasterOnGpus() {
  return SampleCatalog([](const std::string&, const DeviceTraits& device) {
    return device.kind == DeviceKind::kCpu ? 4 : 1;
  });
}

LowerBound Bound(const SampleGraph& g, const Machine& machine,
                 const KernelCatalog& catalog, const KnownStep& known = {}) {
  return BoundStep(CostModel(g.graph(), machine, catalog), known);
}

// %y = work %x
void AddOneNode(SampleGraph& g) {
  g.Return({g.Work("y", {g.Input("x", kLine)}, kLine)});
}

TEST(LowerBoundTest, OneDeviceFeedsComputesAndFetches) {
  SampleGraph g;
  AddOneNode(g);
  const LowerBound bound = Bound(g, SlowCpus(1), AllTake(4));
  EXPECT_DOUBLE_EQ(bound.seconds, 1.25 + 4 + 1.25);
  EXPECT_EQ(BoundByText(bound), "load of cpu:0");
}

// A GPU whose ports take as long as those of SlowCpus.
Machine SlowGpu() {
  Machine machine;
  machine.devices = {SampleDevice("gpu:0", DeviceKind::kCuda, kRoom)};
  machine.devices[0].traits.memory_bandwidth = 128;
  machine.devices[0].traits.launch_seconds = 0.25;
  return machine;
}

// Two feeds of 1.25 seconds, a node of 4, and one of 1 that only the second
// feed needs: the kernels run beside the ports.
TEST(LowerBoundTest, AGpuFeedsAndFetchesBesideItsKernels) {
  SampleGraph g;
  const ValueId a = g.Work("a", {g.Input("x", kLine)}, kLine);
  const ValueId b = g.Work("b", {g.Input("z", kLine)}, kLine);
  g.Return({a, b});
  const LowerBound bound = Bound(g, SlowGpu(), AllTake(4));
  EXPECT_DOUBLE_EQ(bound.seconds, 1.25 + 2 * 4 + 1.25);
  EXPECT_EQ(BoundByText(bound), "load of gpu:0");
  SampleGraph large;
  large.Return({large.Work(
      "y", {large.Input("x", 100 * kLine), large.Input("z", 100 * kLine)}, 1)});
  const LowerBound of_ports = Bound(large, SlowGpu(), AllTake(4));
  EXPECT_DOUBLE_EQ(of_ports.load, 2 * 100.25 + 4 + 0.25 + 1.0 / 16);
  EXPECT_EQ(BoundByText(of_ports), "feeds and fetches of gpu:0");
}

TEST(LowerBoundTest, AFeedMayBeShardedAndAFetchIsWhole) {
  SampleGraph g;
  AddOneNode(g);
  const LowerBound bound = Bound(g, SlowCpus(2), AllTake(4));
  EXPECT_DOUBLE_EQ(bound.critical_path, 0.75 + 4 + 1.25);
  EXPECT_DOUBLE_EQ(bound.seconds, bound.critical_path);
  EXPECT_EQ(BoundByText(bound), "critical path");
}

TEST(LowerBoundTest, AStepRunsEachMicroBatchAndOverlappingStepsShareThePath) {
  SampleGraph g;
  AddOneNode(g);
  KnownStep thrice;
  thrice.runs.assign(g.graph().value_id_bound(), 3);
  EXPECT_NEAR(Bound(g, EqualCpus(1, kRoom), AllTake(4), thrice).seconds, 12,
              kNoPorts);
  const Machine two = EqualCpus(2, kRoom);
  EXPECT_NEAR(Bound(g, two, AllTake(4)).seconds, 4, kNoPorts);
  EXPECT_NEAR(Bound(g, two, AllTake(4), {.depth = 2}).seconds, 2, kNoPorts);
}

// Of GPUs alone, steps run one after the other; beside a CPU a plan may put all
// work on that.
TEST(LowerBoundTest, DevicesThatDoNotOverlapStepsDoNotShareThePath) {
  SampleGraph g;
  AddOneNode(g);
  Machine gpus = CpuAndGpus(2, kRoom);
  EXPECT_NEAR(Bound(g, gpus, AllTake(4), {.depth = 2}).seconds, 2, kNoPorts);
  gpus.devices.erase(gpus.devices.begin());
  gpus.links = {gpus.links.back()};
  ASSERT_EQ(gpus.links[0].from, "gpu:0");
  EXPECT_NEAR(Bound(g, gpus, AllTake(4), {.depth = 2}).seconds, 4, kNoPorts);
}

TEST(LowerBoundTest, WhatTakesMostIsNamed) {
  SampleGraph chain;
  ValueId value = chain.Input("x", 1);
  for (int i = 0; i < 5; ++i) {
    value = chain.Work(std::string(1, static_cast<char>('a' + i)), {value}, 1);
  }
  chain.Return({value});
  EXPECT_EQ(BoundByText(Bound(chain, SlowCpus(1), AllTake(0.25))),
            "launches on cpu:0");
  EXPECT_EQ(BoundByText(Bound(chain, SlowCpus(2), AllTake(0.25))), "launches");
  SampleGraph large;
  large.Return({large.Work("y", {large.Input("x", 100 * kLine)}, 1)});
  EXPECT_EQ(BoundByText(Bound(large, SlowCpus(1), AllTake(4))),
            "feeds and fetches of cpu:0");
  SampleGraph empty;
  empty.Return({});
  EXPECT_EQ(BoundByText(Bound(empty, SlowCpus(1), AllTake(4))), "");
  EXPECT_EQ(Bound(empty, SlowCpus(1), AllTake(4)).seconds, 0);
}

// Five nodes: the GPU computes four in the time in which the CPU computes one.
// A copy is not counted, as another plan may not need it.
TEST(LowerBoundTest, UnequalDevicesShareTheLoadByTheirSpeed) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId a = g.Work("a", {x}, kLine);
  NodeSpec copy;
  copy.op = &kCopy;
  copy.operands = {a};
  const ValueId there = g.graph().AddValue(std::move(copy)).value();
  g.Return({g.Work("b", {there}, kLine), g.Work("c", {x}, kLine),
            g.Work("d", {x}, kLine), g.Work("e", {x}, kLine)});
  const LowerBound bound = Bound(g, CpuAndGpus(1, kRoom), FasterOnGpus());
  EXPECT_NEAR(bound.critical_path, 2, kNoPorts);
  EXPECT_NEAR(bound.load, 4, kNoPorts);
  EXPECT_EQ(BoundByText(bound), "load of gpu:0");
  const LowerBound of_two = Bound(g, CpuAndGpus(2, kRoom), FasterOnGpus());
  EXPECT_NEAR(of_two.load, 20.0 / 9, kNoPorts);
  EXPECT_EQ(BoundByText(of_two), "load of gpu:0 and 1 like it");
}

// The GPU has room for two of five weights, so the CPU computes three nodes.
TEST(LowerBoundTest, WhatTheMemoryOfTheFastDeviceCannotStoreRunsOnTheSlowOne) {
  SampleGraph g;
  const ValueId x = g.Input("x", 1);
  std::vector<ValueId> outputs;
  for (int i = 0; i < 5; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    // Equal constants are stored once.
    const ValueId weight = g.Weight("w" + name, kLine + i);
    outputs.push_back(g.Work(name, {x, weight}, 1));
  }
  g.Return(outputs);
  const Machine small = CpuAndGpus(1, 4 * (16 + 17));
  const LowerBound bound = Bound(g, small, FasterOnGpus());
  EXPECT_GT(bound.load, 0.97 * 12);
  // The dearest share of a weight is one of the largest.
  EXPECT_LE(bound.load, 12 + kNoPorts);
  EXPECT_NEAR(Bound(g, CpuAndGpus(1, kRoom), FasterOnGpus()).load, 4, kNoPorts);
}

TEST(LowerBoundTest, ATransferThatNoPlanAvoidsIsPartOfThePath) {
  SampleGraph g;
  const ValueId a = g.Work("cpu a", {g.Input("x", kLine)}, kLine);
  const ValueId b = g.Work("gpu b", {a}, kLine);
  g.Return({g.Work("cpu c", {b}, kLine)});
  Machine machine = CpuAndGpus(1, kRoom);
  machine.links[0].latency = 10;
  const SampleCatalog catalog(
      [](const std::string& name, const DeviceTraits& device) {
        return name[0] == device.name[0] ? 1.0 : -1.0;
      });
  const LowerBound bound = Bound(g, machine, catalog);
  EXPECT_NEAR(bound.critical_path, 1 + 10 + 1 + 10 + 1, kNoPorts);
  EXPECT_EQ(BoundByText(bound), "link cpu:0 - gpu:0");
}

// A collective of the link may be faster than its copies.
TEST(LowerBoundTest, AValueMayArriveByACollective) {
  SampleGraph g;
  const ValueId a = g.Work("cpu a", {g.Input("x", kLine)}, kLine);
  g.Return({g.Work("gpu b", {a}, kLine)});
  Machine machine = CpuAndGpus(1, kRoom);
  machine.links[0].latency = 10;
  machine.links[0].collectives.gather = {.bandwidth = 1e12, .latency = 3};
  machine.links[0].collectives.reduce = {.bandwidth = 1e12, .latency = 20};
  const SampleCatalog catalog(
      [](const std::string& name, const DeviceTraits& device) {
        return name[0] == device.name[0] ? 1.0 : -1.0;
      });
  // The output is fetched from the GPU over the link, or from the CPU after a
  // collective.
  EXPECT_NEAR(Bound(g, machine, catalog).critical_path, 1 + 3 + 1 + 3,
              kNoPorts);
}

// The ranks of a collective wait for its slowest link once, not for each link
// on the way.
TEST(LowerBoundTest, OneCollectivePassesSeveralLinks) {
  SampleGraph g;
  const ValueId a = g.Work("0", {g.Input("x", kLine)}, kLine);
  g.Return({g.Work("2", {a}, kLine)});
  Machine machine = EqualCpus(4, kRoom);
  machine.links.clear();
  for (int i = 0; i < 4; ++i) {
    // Devices of their own speed, in a ring.
    machine.devices[i].traits.launch_seconds = 1e-9 * i;
    machine.links.push_back(
        {.from = machine.devices[i].traits.name,
         .to = machine.devices[(i + 1) % 4].traits.name,
         .bandwidth = 1e10,
         .latency = 10,
         .collectives = {
             .gather = CollectiveFigures{.bandwidth = 1e12, .latency = 3}}});
  }
  const SampleCatalog catalog(
      [](const std::string& name, const DeviceTraits& device) {
        return name[0] == device.name.back() ? 1.0 : -1.0;
      });
  EXPECT_NEAR(Bound(g, machine, catalog).critical_path, 1 + 3 + 1, kNoPorts);
}

TEST(LowerBoundTest, NodesAreShardedAsFarAsTheirRuleAllows) {
  SampleGraph g;
  const ValueId x = g.Input("x", 3);
  NodeSpec spec;
  spec.op = &kNeg;
  spec.operands = {x};
  spec.result_names = {"y"};
  const ValueId y = g.graph().AddValue(std::move(spec)).value();
  g.Return({g.Work("z", {y}, 3)});  // no dimension rule: cannot be sharded
  const Machine machine = EqualCpus(5, kRoom);
  // three rows over three devices
  EXPECT_NEAR(Bound(g, machine, AllTake(6)).critical_path, 2 + 6, kNoPorts);
  // the shards of a plan take less than the whole
  KnownStep known;
  known.sharded.resize(g.graph().node_id_bound());
  known.sharded[g.node(y).index] = {.ranks = 3, .seconds = 1};
  EXPECT_NEAR(Bound(g, machine, AllTake(6), known).critical_path, 1 + 6,
              kNoPorts);
}

// The reader of a value without bytes runs beside its maker.
TEST(LowerBoundTest, NoPathLeadsThroughAValueWithoutBytes) {
  for (const int64_t elements : {int64_t{0}, kLine}) {
    SampleGraph g;
    const ValueId a = g.Work("a", {g.Input("x", kLine)}, elements);
    g.Return({g.Work("b", {a}, kLine), a});
    const LowerBound bound = Bound(g, EqualCpus(2, kRoom), AllTake(4));
    EXPECT_NEAR(bound.seconds, elements == 0 ? 4 : 8, kNoPorts);
  }
}

// %y = fused %a, %b, whose body adds %b to the negative of %a
ValueId AddFused(SampleGraph& g, ValueId a, ValueId b) {
  const TensorType type = g.graph().type(a);
  auto body = std::make_unique<Graph>("body", &g.graph().literals());
  const ValueId x = body->AddInput("x", type);
  const ValueId z = body->AddInput("z", type);
  const ValueId negative =
      body->AddValue({.op = &kNeg, .operands = {x}}).value();
  const ValueId sum =
      body->AddValue({.op = &kAdd, .operands = {negative, z}}).value();
  body->SetOutputs({sum});
  NodeSpec spec{.op = &kFused, .operands = {a, b}};
  spec.regions.push_back(std::move(body));
  return g.graph().AddValue(std::move(spec)).value();
}

// Another plan may run the body's nodes as kernels of their own. Then the first
// need not wait for what only the second reads.
TEST(LowerBoundTest, AFusedNodeFollowsWhatItsFirstNodeReads) {
  for (const bool first : {true, false}) {
    SampleGraph g;
    const ValueId x = g.Input("x", kLine);
    const ValueId w = g.Work("w", {x}, kLine);
    g.Return({first ? AddFused(g, w, x) : AddFused(g, x, w)});
    const LowerBound bound = Bound(g, EqualCpus(1, kRoom), AllTake(4));
    EXPECT_NEAR(bound.critical_path, first ? 8 : 4, kNoPorts);
    EXPECT_NEAR(bound.load, 8, kNoPorts);
  }
}

TEST(LowerBoundTest, AnOptimalityGapIsTheShareOfTheStepThatPlansMaySave) {
  EXPECT_DOUBLE_EQ(OptimalityGap(4, 3), 0.25);
  EXPECT_EQ(OptimalityGap(4, 4 + 1e-12), 0);
  EXPECT_EQ(OptimalityGap(0, 0), 0);
}

// A few items on a CPU and two GPUs, small enough to try all.
struct RandomItems {
  explicit RandomItems(uint64_t seed) : random(seed) {
    const int items = 2 + static_cast<int>(random() % 5);
    for (int i = 0; i < items; ++i) {
      seconds.push_back({Draw(), Draw()});
      bytes.push_back(Draw());
      stored += bytes.back();
    }
    gpu_memory = static_cast<int64_t>(stored * (0.2 + 0.4 * Draw() / 1000));
  }
  double Draw() { return static_cast<double>(1 + random() % 1000); }

  std::mt19937_64 random;
  std::vector<std::vector<double>> seconds;  // by item, of CPU and GPU
  std::vector<double> bytes;
  double stored = 0;
  int64_t gpu_memory;
};

// The least longest load within the memory.
double BestOf(const RandomItems& items, size_t item, std::vector<double> loads,
              std::vector<double> stored) {
  if (item == items.seconds.size()) {
    return *std::max_element(loads.begin(), loads.end());
  }
  double best = std::numeric_limits<double>::infinity();
  for (size_t device = 0; device < loads.size(); ++device) {
    const double bytes = stored[device] + items.bytes[item];
    if (device > 0 && bytes > static_cast<double>(items.gpu_memory)) {
      continue;
    }
    std::vector<double> next_loads = loads, next_stored = stored;
    next_loads[device] += items.seconds[item][device > 0];
    next_stored[device] = bytes;
    best = std::min(best, BestOf(items, item + 1, next_loads, next_stored));
  }
  return best;
}

TEST(LoadBoundTest, NoAssignmentOfRandomItemsIsFaster) {
  double ratios = 0;
  constexpr int kInstances = 100;
  for (uint64_t seed = 0; seed < kInstances; ++seed) {
    const RandomItems items(seed);
    SampleGraph g;
    AddOneNode(g);
    const Machine machine = CpuAndGpus(2, items.gpu_memory);
    const SampleCatalog catalog = FasterOnGpus();
    const CostModel costs(g.graph(), machine, catalog);
    const DeviceGroups groups(costs);
    StepWork work(groups.size());
    for (size_t i = 0; i < items.seconds.size(); ++i) {
      work.Add({.bytes = items.bytes[i]}, items.seconds[i]);
    }
    const double bound = LoadBounder(groups, work).Overlapping().seconds;
    const double best = BestOf(items, 0, {0, 0, 0}, {0, 0, 0});
    EXPECT_LE(bound, best * (1 + 1e-9)) << "seed " << seed;
    ratios += bound / best;
  }
  EXPECT_GT(ratios / kInstances, 0.5);
}

}  // namespace
}  // namespace partita
