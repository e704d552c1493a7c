// Tests of pins, refusals and the strategies single and pinned.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/planner.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/op_list.h"
#include "gtest/gtest.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/match_pattern.h"
#include "placement/planner/pins.h"
#include "placement/planner/plan_sample.h"

namespace partita {
namespace {

constexpr int64_t kLine = 16;  // f32 elements of 64 bytes

// "a gpu:0 pinned\nb gpu:1 follows %a\n", in order.
std::string Text(const SampleGraph& g,
                 const absl::StatusOr<PlacementTable>& table) {
  if (!table.ok()) return std::string(table.status().message());
  std::string text;
  for (const OpView& node : g.graph().ops()) {
    const PlacedNode& placed = table->nodes[node.id().index];
    absl::StrAppend(&text, node.result(0).name(), " ");
    for (const std::string& device : placed.placement.devices) {
      absl::StrAppend(&text, device, " ");
    }
    absl::StrAppend(&text, ReasonText(g.graph(), placed), "\n");
  }
  return text;
}

NodeId NodeNamed(const SampleGraph& g, absl::string_view name) {
  for (const OpView& node : g.graph().ops()) {
    if (node.result(0).name() == name) return node.id();
  }
  ADD_FAILURE() << name;
  return g.graph().order().front();
}

double GpusAreTwiceAsFast(const std::string&, const DeviceTraits& device) {
  return device.kind == DeviceKind::kCpu ? 2 : 1;
}

// x -> a -> b -> c, each reading a weight of `weight` lines.
struct Chain : SampleGraph {
  explicit Chain(int64_t weight) {
    ValueId value = Input("x", kLine);
    for (const char* name : {"a", "b", "c"}) {
      const ValueId w = Weight(absl::StrCat("w", name), weight * kLine);
      value = Work(name, {value, w}, kLine, absl::StrCat("net/", name));
    }
    Return({value});
  }
};

TEST(PinsTest, PatternsMatchAsInAShell) {
  EXPECT_TRUE(MatchesPattern("a*c", "abbc"));
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("a?c*", "abc"));
  EXPECT_TRUE(MatchesPattern("*/layer?/*", "enc/layer3/mlp"));
  EXPECT_TRUE(MatchesPattern("*ab*ab", "abaab"));
  EXPECT_FALSE(MatchesPattern("a*c", "abcd"));
  EXPECT_FALSE(MatchesPattern("?", ""));
  EXPECT_FALSE(MatchesPattern("", "a"));
  EXPECT_FALSE(
      MatchesPattern(std::string(200, '*') + "x", std::string(20000, 'y')));
}

TEST(SingleTest, TheFastestDeviceWithRoomIsTaken) {
  Chain g(1);
  const SampleCatalog catalog(GpusAreTwiceAsFast);
  EXPECT_EQ(Text(g, PlanBy("single", g, CpuAndGpus(1, 1000), {}, catalog)),
            "wa gpu:0 best_device\na gpu:0 best_device\n"
            "wb gpu:0 best_device\nb gpu:0 best_device\n"
            "wc gpu:0 best_device\nc gpu:0 best_device\n");
  // 3 weights and two activations: 320 bytes do not fit into 300.
  EXPECT_EQ(Text(g, PlanBy("single", g, CpuAndGpus(1, 300), {}, catalog)),
            "wa cpu:0 best_device\na cpu:0 best_device\n"
            "wb cpu:0 best_device\nb cpu:0 best_device\n"
            "wc cpu:0 best_device\nc cpu:0 best_device\n");
}

TEST(SingleTest, ADeviceThatLacksAKernelIsSkipped) {
  Chain g(1);
  const SampleCatalog catalog(
      [](const std::string& name, const DeviceTraits& device) {
        return name == "b" && device.kind == DeviceKind::kCuda ? -1.0 : 1.0;
      });
  const auto table = PlanBy("single", g, CpuAndGpus(1, 1000), {}, catalog);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->nodes.back().placement.devices[0], "cpu:0");
  EXPECT_EQ(
      Text(g, PlanBy("single", g, CpuAndGpus(1, 1000), {.device = "gpu:0"},
                     catalog)),
      "work %b: found no kernel on gpu:0 for (f32[16], f32[16]); expected "
      "one device that runs every node; try strategy list");
}

// The placement by `single` if lowering refuses each draft that uses one of
// these devices.
absl::StatusOr<PlacementTable> SingleWithout(
    const std::set<std::string>& refused, const SampleGraph& g) {
  constexpr Planner kSingle{.name = "single",
                            .doc = "",
                            .draft = DraftSingle,
                            .follow = DraftSingle,
                            .reads_memory_limits = true};
  const auto count = [&](absl::Span<const Placement> placements)
      -> absl::StatusOr<std::vector<int64_t>> {
    for (const Placement& placement : placements) {
      if (placement.placed() && refused.contains(placement.devices[0])) {
        return absl::UnimplementedError(
            absl::StrCat("refused on ", placement.devices[0]));
      }
    }
    return std::vector<int64_t>{0, 0};
  };
  return kSingle.Place(
      g.graph(), CpuAndGpus(1, 1000), SampleCatalog(GpusAreTwiceAsFast),
      {.memory_limits = {1000, 1000}, .needed_bytes = count}, {});
}

// The faster gpu:0 is tried first.
TEST(SingleTest, ADraftThatCannotBeLoweredIsPassedOver) {
  Chain g(1);
  const auto table = SingleWithout({"gpu:0"}, g);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->nodes.back().placement.devices[0], "cpu:0");
  EXPECT_EQ(Text(g, SingleWithout({"gpu:0", "cpu:0"}, g)), "refused on gpu:0");
}

// What `single` asks and chooses among a CPU and two equal GPUs, whose kernels
// take half as long.
class PredictedSingle {
 public:
  // Seconds of a step on the CPU, and on a GPU.
  PredictedSingle(double cpu, double gpu, const PlannerOptions& options = {},
                  const Machine& machine = CpuAndGpus(2, 1000)) {
    const std::vector<int64_t> none(machine.devices.size(), 0);
    const auto predict = [&](absl::Span<const Placement> placements) {
      const std::string& device = placements.back().devices[0];
      asked.push_back(device);
      return PredictedDraft{none, device == "cpu:0" ? cpu : gpu};
    };
    const Objective objective = {
        .memory_limits = std::vector<int64_t>(machine.devices.size(), 1000),
        .needed_bytes = [&](absl::Span<const Placement>) { return none; },
        .predict = predict};
    const auto table = Planners().front().Place(
        g_.graph(), machine, SampleCatalog(GpusAreTwiceAsFast), objective,
        options);
    EXPECT_TRUE(table.ok()) << table.status();
    chosen = table->nodes.back().placement.devices[0];
  }

  std::vector<std::string> asked;  // for the steps of these devices
  std::string chosen;

 private:
  const Chain g_{1};
};

// Three nodes of one second on a GPU, of two on the CPU.
TEST(SingleTest, DevicesAreRankedByTheirStepsWithFeedsAndFetches) {
  const PredictedSingle slow_links(7, 10);
  EXPECT_EQ(slow_links.chosen, "cpu:0");
  // Equal devices have equal steps.
  EXPECT_EQ(slow_links.asked, (std::vector<std::string>{"gpu:0", "cpu:0"}));
  // The CPU's kernels alone take longer than the GPU's step.
  const PredictedSingle fast_links(7, 4);
  EXPECT_EQ(fast_links.chosen, "gpu:0");
  EXPECT_EQ(fast_links.asked, std::vector<std::string>{"gpu:0"});
}

// Feeds and fetches of overlapping steps share a link that is not duplex.
TEST(SingleTest, DevicesWithOtherLinksArePredicted) {
  Machine machine = CpuAndGpus(2, 1000);
  for (Link& link : machine.links) {
    link.duplex = link.from != "gpu:1" && link.to != "gpu:1";
  }
  const PredictedSingle single(7, 10, {}, machine);
  EXPECT_EQ(single.asked,
            (std::vector<std::string>{"gpu:0", "gpu:1", "cpu:0"}));
}

TEST(SingleTest, TheDeviceOfTheOutputsIsLikeNoOther) {
  const PredictedSingle single(7, 10, {.output_device = "gpu:1"});
  EXPECT_EQ(single.asked,
            (std::vector<std::string>{"gpu:0", "gpu:1", "cpu:0"}));
}

// The other equal ones have equal steps, so only one of them is predicted.
TEST(SingleTest, DevicesThatNothingNamesAreAlike) {
  const PredictedSingle single(7, 10, {.output_device = "gpu:2"},
                               CpuAndGpus(4, 1000));
  EXPECT_EQ(single.asked,
            (std::vector<std::string>{"gpu:0", "gpu:2", "cpu:0"}));
}

// Those that read none are not asked again with lower ones.
TEST(PlannerTest, StrategiesSayWhetherTheyReadMemoryLimits) {
  Chain g(1);
  const SampleCatalog catalog(GpusAreTwiceAsFast);
  for (const Planner& planner : Planners()) {
    const auto within = [&](int64_t memory) {
      const auto count = [](absl::Span<const Placement> placements) {
        std::vector<int64_t> needed(2, 0);
        for (const Placement& placement : placements) {
          if (!placement.placed()) continue;
          needed[placement.devices[0] == "gpu:0"] = 500;
        }
        return needed;
      };
      const auto table = planner.Place(
          g.graph(), CpuAndGpus(1, 400), catalog,
          {.memory_limits = {1000, memory}, .needed_bytes = count}, {});
      EXPECT_TRUE(table.ok()) << table.status();  // two errors would be equal
      return Text(g, table);
    };
    EXPECT_EQ(within(1000) != within(0), planner.reads_memory_limits)
        << planner.name << "\n"
        << within(1000) << within(0);
  }
}

TEST(SingleTest, AnUnknownDeviceIsNamed) {
  Chain g(1);
  EXPECT_EQ(
      Text(g, PlanBy("single", g, EqualCpus(2, 1000), {.device = "gpu:0"})),
      "device gpu:0: found no such device in this machine; expected one of "
      "cpu:0, cpu:1");
}

TEST(PlannerTest, ANodeThatRunsNowhereIsNamed) {
  Chain g(1);
  const SampleCatalog none([](const std::string& name, const DeviceTraits&) {
    return name == "b" ? -1.0 : 1.0;
  });
  EXPECT_EQ(Text(g, PlanBy("single", g, EqualCpus(1, 1000), {}, none)),
            "work %b: found no kernel on any device of sample for (f32[16], "
            "f32[16]); expected one; add a device that has one, or rewrite "
            "the node");
}

TEST(PinnedTest, OtherNodesStayNearPinnedOnes) {
  Chain g(1);
  const Machine machine = CpuAndGpus(2, 10000);
  EXPECT_EQ(Text(g, PlanPinned("pinned", g, machine, {{"b", {"gpu:1"}}})),
            "wa gpu:1 follows %a\na gpu:1 follows %b\n"
            "wb gpu:1 follows %b\nb gpu:1 pinned\n"
            "wc gpu:1 follows %c\nc gpu:1 follows %b\n");
  EXPECT_EQ(Text(g, PlanPinned("pinned", g, machine,
                               {{"net/a", {"gpu:0"}},
                                {"net/b", {"gpu:1"}},
                                {"net/c", {"gpu:1"}}})),
            "wa gpu:0 follows %a\na gpu:0 pinned\n"
            "wb gpu:1 follows %b\nb gpu:1 pinned\n"
            "wc gpu:1 follows %c\nc gpu:1 pinned\n");
}

// Otherwise every later block would send its sum back to the first device.
TEST(PinnedTest, AResidualStaysWhereItIsAdded) {
  for (const bool residual_first : {true, false}) {
    SampleGraph g;
    const ValueId a = g.Work("a", {g.Input("x", kLine)}, kLine);
    const ValueId b = g.Work("b", {a}, kLine);
    const ValueId sum = g.Work("sum",
                               residual_first ? std::vector<ValueId>{a, b}
                                              : std::vector<ValueId>{b, a},
                               kLine);
    g.Return({g.Work("c", {sum}, kLine)});
    EXPECT_EQ(Text(g, PlanPinned("pinned", g, CpuAndGpus(2, 10000),
                                 {{"a", {"gpu:0"}}, {"b", {"gpu:1"}}})),
              "a gpu:0 pinned\nb gpu:1 pinned\nsum gpu:1 follows %b\n"
              "c gpu:1 follows %sum\n");
  }
}

TEST(PinnedTest, AReaderFollowsItsPinnedConstant) {
  Chain g(1);
  EXPECT_EQ(Text(g, PlanPinned("pinned", g, CpuAndGpus(2, 10000),
                               {{"wc", {"gpu:0"}}, {"a", {"gpu:1"}}})),
            "wa gpu:1 follows %a\na gpu:1 pinned\n"
            "wb gpu:1 follows %b\nb gpu:1 follows %a\n"
            "wc gpu:0 follows %c\nc gpu:0 near_constant %wc\n");
}

TEST(PinnedTest, WithoutPinsTheFastestDeviceIsTaken) {
  Chain g(1);
  EXPECT_EQ(Text(g, PlanBy("pinned", g, CpuAndGpus(1, 10000), {},
                           SampleCatalog(GpusAreTwiceAsFast))),
            "wa gpu:0 follows %a\na gpu:0 cheaper_by 1 s\n"
            "wb gpu:0 follows %b\nb gpu:0 follows %a\n"
            "wc gpu:0 follows %c\nc gpu:0 follows %b\n");
}

TEST(PinnedTest, ACrossingWithoutALinkNamesBothDevices) {
  Chain g(1);
  Machine machine = CpuAndGpus(2, 10000);
  machine.links.pop_back();  // gpu:0 and gpu:1
  EXPECT_EQ(Text(g, PlanPinned("pinned", g, machine,
                               {{"a", {"gpu:0"}}, {"b", {"gpu:1"}}})),
            "work %b: found operand %a on gpu:0 and no link from there to "
            "gpu:1; expected a direct link; add one to the machine file or "
            "keep both on one device with a pin");
}

// The GPU is faster, but nothing can be fed to it or fetched from it.
TEST(EveryStrategyTest, ADeviceWithoutALinkToTheHostIsLeftOut) {
  const Chain g(1);
  Machine machine = CpuAndGpus(1, 10000);
  machine.links.clear();
  const SampleCatalog catalog(GpusAreTwiceAsFast);
  for (const char* strategy :
       {"single", "data", "pipeline", "list", "search"}) {
    SCOPED_TRACE(strategy);
    const auto table = PlanBy(strategy, g, machine, {}, catalog);
    ASSERT_TRUE(table.ok()) << table.status();
    for (const OpView& node : g.graph().ops()) {
      const auto& devices = table->nodes[node.id().index].placement.devices;
      ASSERT_EQ(devices.size(), 1u);
      EXPECT_EQ(devices[0], "cpu:0");
    }
  }
  EXPECT_EQ(Text(g, PlanBy("single", g, machine, {.device = "gpu:0"}, catalog)),
            "work %a: found input %x on gpu:0 and no link between that and a "
            "CPU; expected one; add one to the machine file, or keep what "
            "reads inputs and makes outputs on other devices with a pin");
}

// Of two GPUs with a link, one has no link to the host: it computes what is
// between inputs and outputs, and outputs that are copied to another device.
TEST(EveryStrategyTest, ADeviceWithoutALinkToTheHostHasNoOutputs) {
  Chain g(1);
  Machine machine = CpuAndGpus(2, 10000);
  std::erase_if(machine.links, [](const Link& link) {
    return link.from == "cpu:0" && link.to == "gpu:1";
  });
  const std::vector<Pin> middle = {
      {"a", {"gpu:0"}}, {"b", {"gpu:1"}}, {"c", {"gpu:0"}}};
  EXPECT_TRUE(PlanPinned("pinned", g, machine, middle).ok());
  const std::vector<Pin> end = {
      {"a", {"gpu:0"}}, {"b", {"gpu:1"}}, {"c", {"gpu:1"}}};
  EXPECT_EQ(Text(g, PlanPinned("pinned", g, machine, end)),
            "work %c: found output %c on gpu:1 and no link between that and a "
            "CPU; expected one; add one to the machine file, or keep what "
            "reads inputs and makes outputs on other devices with a pin");
  EXPECT_TRUE(PlanBy("pinned", g, machine, {.output_device = "gpu:0"}).ok());
}

TEST(PinnedTest, APinToSeveralDevicesShardsTheResults) {
  SampleGraph g;
  NodeSpec spec;
  spec.op = &kMatmul;
  spec.operands = {
      g.graph().AddInput("a", {DType::kF32, {4, 8}, {}}),
      g.graph().AddInput("b", {DType::kF32, {8, 6}, {}}),
  };
  spec.result_names = {"y"};
  const ValueId y = g.graph().AddValue(std::move(spec)).value();
  g.Return({y});
  const auto placement = [&](int dim) {
    const auto table = PlanPinned("list", g, EqualCpus(2, 10000),
                                  {{"y", {"cpu:0", "cpu:1"}, dim}});
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? table->nodes[g.node(y).index].placement : Placement();
  };
  const Sharding rows = {Sharding::Kind::kSplit, 0, Reduction::kSum};
  const Sharding columns = {Sharding::Kind::kSplit, 1, Reduction::kSum};
  EXPECT_EQ(placement(0).devices.size(), 2u);
  EXPECT_EQ(placement(0).results, std::vector<Sharding>({rows}));
  EXPECT_EQ(placement(1).results, std::vector<Sharding>({columns}));
  EXPECT_TRUE(placement(-1).results.empty());  // replicated
}

// As in a layer's gradient: nodes that no pin names stay whole if they must.
TEST(PinnedTest, AGroupIsSplitWhereItCanBe) {
  SampleGraph g;
  const ValueId row = g.graph().AddInput("row", {DType::kF32, {1, 8}, {}});
  const ValueId rows = g.graph().AddInput("rows", {DType::kF32, {4, 8}, {}});
  const ValueId columns =
      g.graph().AddInput("columns", {DType::kF32, {8, 6}, {}});
  const auto product = [&](ValueId a, const std::string& name) {
    NodeSpec spec;
    spec.op = &kMatmul;
    spec.operands = {a, columns};
    spec.result_names = {name};
    return g.graph().AddValue(std::move(spec)).value();
  };
  const ValueId t = product(row, "layer.t");
  const ValueId y = product(rows, "layer.y");
  g.Return({t, y});
  const auto write = [&](const std::string& pattern, int dim) {
    for (const OpView& node : g.graph().ops()) {
      g.graph().node(node.id()).placement = {};
    }
    return WritePins(g.module(), EqualCpus(2, 10000),
                     {{pattern, {"cpu:0", "cpu:1"}, dim}})
        .status();
  };
  const auto results = [&](ValueId value) {
    return g.graph().node(g.node(value)).placement.results;
  };
  ASSERT_TRUE(write("layer*", 0).ok());
  EXPECT_TRUE(results(t).empty());  // [1, 6]
  EXPECT_EQ(results(y), std::vector<Sharding>(
                            {{Sharding::Kind::kSplit, 0, Reduction::kSum}}));
  // A node that is named itself is refused after the passes.
  ASSERT_TRUE(write("layer.t", 0).ok());
  EXPECT_FALSE(results(t).empty());
  EXPECT_EQ(write("layer?t", 0).message(),
            "pin layer?t=cpu:0,cpu:1/split0: found no node that it can split; "
            "expected one; the first is matmul %layer.t: found a split along "
            "dimension 0, which has extent 1; expected a dimension to divide; "
            "choose another dimension");
}

TEST(PinnedTest, FaultyPinsAreRefused) {
  Chain g(1);
  const Machine machine = CpuAndGpus(1, 10000);
  const auto error = [&](Pin pin) {
    return Text(g, PlanPinned("pinned", g, machine, {pin}));
  };
  EXPECT_EQ(error({"b", {"gpu:7"}}),
            "pin b=gpu:7: found unknown device gpu:7; expected one of cpu:0, "
            "gpu:0");
  EXPECT_EQ(error({"b", {}}),
            "pin b=: found no device; expected one of cpu:0, gpu:0");
  EXPECT_EQ(error({"b", {"gpu:0", "gpu:0"}}),
            "pin b=gpu:0,gpu:0: found gpu:0 twice; expected every device once");
  EXPECT_EQ(error({"b", {"gpu:0"}, 9}),
            "pin b=gpu:0/split9: found one device to split over; expected "
            "several, or no /split9");
  EXPECT_EQ(
      error({"nothing*", {"gpu:0"}}),
      "pin nothing*=gpu:0: found no node with this scope or result "
      "name; expected one such as a, b, c, net/a, net/b, net/c; * matches "
      "any run of characters");
  EXPECT_EQ(error({"b", {"cpu:0", "gpu:0"}, 1}),
            "pin b=cpu:0,gpu:0/split1: found no dimension 1 of the nodes that "
            "match; expected one of their results'");
}

TEST(PinnedTest, PinsThatDisagreeOnANodeAreRefused) {
  Chain g(1);
  const Machine machine = CpuAndGpus(2, 10000);
  const auto placed = [&](const std::vector<Pin>& pins) {
    return Text(g, PlanPinned("pinned", g, machine, pins));
  };
  EXPECT_EQ(placed({{"net/a", {"gpu:0"}}, {"net/?", {"gpu:1"}}}),
            "pin net/a=gpu:0: found net/?=gpu:1 for work %a too; expected pins "
            "that agree on a node; narrow one of the patterns");
  const std::vector<std::string> both = {"gpu:0", "gpu:1"};
  EXPECT_EQ(
      placed({{"b", both}, {"b", both, 0}}),
      "pin b=gpu:0,gpu:1: found b=gpu:0,gpu:1/split0 for work %b too; expected "
      "pins that agree on a node; narrow one of the patterns");
  // Where they agree, both hold.
  EXPECT_EQ(placed({{"net/?", {"gpu:1"}}, {"net/a", {"gpu:1"}}}),
            placed({{"net/?", {"gpu:1"}}}));
}

TEST(PinnedTest, PlacementsInTheTextOverridePins) {
  Chain g(1);
  const auto place = [&](absl::string_view name) -> Placement& {
    return g.graph().node(NodeNamed(g, name)).placement;
  };
  const Machine machine = CpuAndGpus(2, 10000);
  place("a").devices = {"gpu:0"};
  const Sharding rows = {Sharding::Kind::kSplit, 0, Reduction::kSum};
  place("b") = {{"gpu:0", "gpu:1"}, {rows, Sharding()}, {rows}};
  ASSERT_TRUE(WritePins(g.module(), machine, {{"net/*", {"gpu:1"}}}).ok());
  EXPECT_EQ(place("a"), (Placement{{"gpu:0"}, {}, {}}));
  EXPECT_EQ(place("b"), (Placement{{"gpu:0", "gpu:1"}, {}, {rows}}));
  EXPECT_EQ(place("c"), (Placement{{"gpu:1"}, {}, {}}));
  place("b").results[0].kind = Sharding::Kind::kPartial;
  EXPECT_EQ(
      std::string(WritePins(g.module(), machine, {}).status().message()),
      "work %b: found a placement with a partial result; expected devices, "
      "and results that are split or whole; leave the rest to the "
      "compiler");
  place("b") = {{"gpu:7"}, {}, {}};
  const char kUnknown[] =
      "work %b: found unknown device gpu:7; expected one of cpu:0, gpu:0, "
      "gpu:1";
  EXPECT_EQ(std::string(WritePins(g.module(), machine, {}).status().message()),
            kUnknown);
  EXPECT_EQ(Text(g, PlanBy("list", g, machine)), kUnknown);
}

TEST(PinnedTest, PinsWithoutNodesAreReported) {
  Chain g(1);
  const ValueId unread = g.Work("unread", {g.graph().inputs()[0]}, kLine);
  g.Work("idle", {unread}, kLine);
  const Machine machine = CpuAndGpus(2, 10000);
  const auto written = WritePins(g.module(), machine,
                                 {{"wa", {"gpu:1"}},
                                  {"a", {"gpu:0"}},
                                  {"b", {"gpu:1"}},
                                  {"idle", {"gpu:0"}},
                                  {"unread", {"gpu:0"}},
                                  {"c", {"gpu:0"}}});
  ASSERT_TRUE(written.ok()) << written.status();
  EXPECT_EQ(PinsWithoutNodes(g.module(), *written),
            std::vector<std::string>({"idle=gpu:0", "unread=gpu:0"}));
  // As passes do: %b is replaced by its operand, and %c by a constant. Only %a
  // is still where its pin puts it.
  const auto replace = [&](absl::string_view name, ValueId by) {
    const NodeId node = NodeNamed(g, name);
    g.graph().ReplaceAllUses(g.graph().node(node).results[0], by);
    g.graph().Erase(node);
  };
  replace("b", g.graph().node(NodeNamed(g, "a")).results[0]);
  replace("c", g.Weight("c", kLine));
  EXPECT_EQ(PinsWithoutNodes(g.module(), *written),
            std::vector<std::string>(
                {"b=gpu:1", "idle=gpu:0", "unread=gpu:0", "c=gpu:0"}));
}

TEST(PinnedTest, APinToADeviceWithoutAKernelIsRefused) {
  Chain g(1);
  const SampleCatalog catalog(
      [](const std::string& name, const DeviceTraits& device) {
        return name == "b" && device.kind == DeviceKind::kCuda ? -1.0 : 1.0;
      });
  EXPECT_EQ(Text(g, PlanPinned("pinned", g, CpuAndGpus(1, 1000),
                               {{"b", {"gpu:0"}}}, catalog)),
            "work %b: found no kernel on gpu:0 for (f32[16], f32[16]), where a "
            "pin puts it; expected cpu:0; change the pin");
}

TEST(ReplicasTest, AreTheFastestIdenticalDevices) {
  const Chain g(1);
  const Machine machine = CpuAndGpus(2, 1 << 20);
  const SampleCatalog catalog(GpusAreTwiceAsFast);
  const auto both = PlanBy("data", g, machine, {}, catalog);
  EXPECT_NE(Text(g, both).find("a gpu:0 gpu:1 replicated\n"), std::string::npos)
      << Text(g, both);
  const auto one = PlanBy("data", g, machine, {.replicas = 1}, catalog);
  EXPECT_NE(Text(g, one).find("a gpu:0 only_device\n"), std::string::npos)
      << Text(g, one);
}

TEST(ReplicasTest, OneDeviceMustRunAllNodes) {
  const Chain g(1);
  const SampleCatalog catalog(
      [](const std::string& name, const DeviceTraits& device) {
        const bool cpu = device.kind == DeviceKind::kCpu;
        if (name == (cpu ? "c" : "b")) return -1.0;
        return cpu ? 9.0 : 1.0;
      });
  const auto table = PlanBy("data", g, CpuAndGpus(2, 1 << 20), {}, catalog);
  EXPECT_EQ(
      Text(g, table),
      "work %b: found no kernel on gpu:0 for (f32[16], f32[16]); expected "
      "one device that runs every node; try strategy list");
}

// As for a model so small that launch times dominate.
TEST(ReplicasTest, TwoEqualDevicesGoBeforeAFasterOne) {
  const Chain g(1);
  const Machine machine = CpuAndGpus(2, 1 << 20);
  const SampleCatalog catalog(
      [](const std::string&, const DeviceTraits& device) {
        return device.kind == DeviceKind::kCpu ? 1.0 : 2.0;
      });
  EXPECT_NE(Text(g, PlanBy("data", g, machine, {}, catalog))
                .find("a gpu:0 gpu:1 replicated\n"),
            std::string::npos);
  EXPECT_NE(Text(g, PlanBy("data", g, machine, {.replicas = 1}, catalog))
                .find("a cpu:0 only_device\n"),
            std::string::npos);
  const SampleCatalog lame([](const std::string&, const DeviceTraits& device) {
    return device.kind == DeviceKind::kCpu ? 1.0 : -1.0;
  });
  EXPECT_NE(Text(g, PlanBy("data", g, machine, {}, lame))
                .find("a cpu:0 only_device\n"),
            std::string::npos);
}

TEST(ReplicasTest, AsManyAsRequestedOrNone) {
  const Chain g(1);
  Machine machine = EqualCpus(3, 1 << 20);
  std::erase_if(machine.links, [](const Link& link) {
    return link.from == "cpu:2" || link.to == "cpu:2";
  });
  EXPECT_EQ(
      Text(g, PlanBy("data", g, machine, {.replicas = 3})),
      "replicas: found 3; expected at most 2, as cpu:0, cpu:1 are the "
      "identical devices with links; take 2 replicas, or a machine with 3 "
      "such devices");
  EXPECT_NE(Text(g, PlanBy("data", g, machine, {.replicas = 2}))
                .find("a cpu:0 cpu:1"),
            std::string::npos);
  machine.links.clear();
  EXPECT_EQ(
      Text(g, PlanBy("data", g, machine, {.replicas = 2})),
      "replicas: found 2; expected at most 1, as no two identical devices "
      "have links; take one replica, or a machine with 2 such devices");
}

TEST(ReplicasTest, TheFirstDeviceNeedNotBeAReplica) {
  const Chain g(1);
  Machine machine = EqualCpus(4, 1 << 20);
  std::erase_if(machine.links, [](const Link& link) {
    const bool first = link.from == "cpu:0" || link.to == "cpu:0";
    return first && link.from != "cpu:1" && link.to != "cpu:1";
  });
  EXPECT_NE(Text(g, PlanBy("data", g, machine, {.replicas = 3}))
                .find("a cpu:1 cpu:2 cpu:3"),
            std::string::npos);
}

TEST(ReplicasTest, EveryReplicaMustHoldTheWeights) {
  const Chain g(100);
  const Machine machine = EqualCpus(2, 10000);
  const auto table = PlanBy("data", g, machine);
  ASSERT_TRUE(table.ok()) << table.status();
  std::vector<Placement> placements;
  for (const PlacedNode& node : table->nodes) {
    placements.push_back(node.placement);
  }
  const auto needed = SampleBytes(g, machine, placements);
  ASSERT_TRUE(needed.ok()) << needed.status();
  for (int64_t bytes : *needed) EXPECT_GT(bytes, 3 * 100 * 64);
}

}  // namespace
}  // namespace partita
