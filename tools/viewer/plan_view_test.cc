// Tests of what a page says about a plan: path, links, memory, findings.
// SPDX-License-Identifier: Apache-2.0

#include "tools/viewer/plan_view.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/op_view.h"
#include "graph/ops/op_set.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "placement/machine/sample_machines.h"
#include "runtime/plan/collective.h"
#include "runtime/plan/plan_text.h"
#include "tools/viewer/collective_sends.h"
#include "tools/viewer/device_waits.h"
#include "tools/viewer/diff_view.h"
#include "tools/viewer/equal_devices.h"
#include "tools/viewer/findings.h"
#include "tools/viewer/nodes_of_interest.h"
#include "tools/viewer/page_json.h"
#include "tools/viewer/residuals.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// As in viewer_test.cc: commands 0..10 are two feeds, %g and record on cpu:0;
// wait, copy and record on its copy stream; wait, %l, %p and fetch on cpu:1.
Plan Perceptron() {
  std::ifstream file("tools/viewer/testdata/perceptron.plan.txt");
  std::stringstream text;
  text << file.rdbuf();
  absl::StatusOr<Plan> plan =
      ParsePlan(text.str(), "perceptron", OpSet::BuiltIn());
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

// %g takes 60 microseconds, %l 20, %p 10; the copy takes a microsecond and its
// 1024 bytes' time.
ViewedMachine TwoCpus(const Plan& plan) {
  ViewedMachine machine{EqualCpus(2, int64_t{1} << 26), {}};
  machine.machine.links[0].latency = 1e-6;
  const Graph& graph = *plan.entries[0].graph;
  std::vector<double> seconds(graph.node_id_bound(), 0);
  for (const OpView& op : graph.ops()) {
    const std::string name = std::string(op.result(0).name());
    seconds[op.id().index] = name == "g"   ? 60e-6
                             : name == "l" ? 20e-6
                             : name == "p" ? 10e-6
                                           : 0;
  }
  machine.node_seconds.push_back(std::move(seconds));
  return machine;
}

PlanView Predicted(const Plan& plan) {
  const ViewedMachine machine = TwoCpus(plan);
  absl::StatusOr<PlanView> view = ReadPlanView(plan, &machine);
  EXPECT_TRUE(view.ok()) << view.status();
  return *std::move(view);
}

std::vector<std::string> Texts(const std::vector<FindingView>& findings) {
  std::vector<std::string> texts;
  for (const FindingView& finding : findings) texts.push_back(finding.text);
  return texts;
}

TEST(PredictedViewTest, TheCriticalPathIsTheWholeStep) {
  const ViewedEntry entry = Predicted(Perceptron()).entries[0];
  EXPECT_TRUE(entry.simulated);
  double seconds = 0;
  std::vector<int> commands;
  for (const PathStep& step : entry.path) {
    seconds += step.seconds;
    commands.push_back(step.command.index);
  }
  EXPECT_NEAR(seconds, entry.end, 1e-12);
  EXPECT_THAT(commands, ElementsAre(0, 1, 2, 5, 8, 9, 10));
  EXPECT_EQ(entry.boxes[2].seconds, 60e-6);
}

TEST(PredictedViewTest, LinksHaveTheLoadOfTheirDirection) {
  const PlanView view = Predicted(Perceptron());
  ASSERT_EQ(view.links.size(), 1u);
  EXPECT_EQ(view.machine_devices[view.links[0].from].device, 0);
  EXPECT_EQ(view.machine_devices[view.links[0].to].name, "cpu:1");
  const ViewedEntry& entry = view.entries[0];
  EXPECT_EQ(entry.link_loads[0][0].transfers, 1);
  EXPECT_EQ(entry.link_loads[0][0].bytes, 1024);
  EXPECT_NEAR(entry.link_loads[0][0].seconds, 1e-6 + 1024 / 1e10, 1e-12);
  EXPECT_EQ(entry.link_loads[0][1].transfers, 0);
  EXPECT_EQ(entry.commands[CommandId(5)].link, 0);
  EXPECT_TRUE(entry.commands[CommandId(5)].forward);
  EXPECT_EQ(entry.commands[CommandId(2)].link, -1);
}

// By rank: "to bytes".
std::vector<std::string> Sends(CollectiveKind kind,
                               const std::vector<Participant>& ranks) {
  std::vector<std::string> list;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::string text;
    for (const RankSend& send : SendsOf(kind, ranks, rank, 300)) {
      absl::StrAppend(&text, send.to, " ", send.bytes, ";");
    }
    list.push_back(text);
  }
  return list;
}

TEST(CollectiveSendsTest, ARingSendsWhatItsStepsSend) {
  const std::vector<Participant> ranks = {
      {"gpu:0", 0, 0}, {"gpu:1", 1, 1}, {"gpu:2", 2, 2}};
  EXPECT_THAT(Sends(CollectiveKind::kAllReduce, ranks),
              ElementsAre("1 400;", "2 400;", "0 400;"));
  EXPECT_THAT(Sends(CollectiveKind::kReduceScatter, ranks),
              ElementsAre("1 200;", "2 200;", "0 200;"));
  EXPECT_THAT(Sends(CollectiveKind::kAllGather, ranks),
              ElementsAre("1 600;", "2 600;", "0 600;"));
  EXPECT_THAT(Sends(CollectiveKind::kAllToAll, ranks),
              ElementsAre("1 200;", "2 200;", "0 200;"));
}

TEST(CollectiveSendsTest, ABroadcastEndsBeforeItsRoot) {
  EXPECT_THAT(Sends(CollectiveKind::kBroadcast,
                    {{"gpu:0", -1, 0}, {"gpu:1", 0, -1}, {"gpu:2", -1, 0}}),
              ElementsAre("", "2 300;", "0 300;"));
}

TEST(CollectiveSendsTest, APermuteSendsEachShardToItsTaker) {
  EXPECT_THAT(Sends(CollectiveKind::kPermute,
                    {{"gpu:0", 0, 1}, {"gpu:1", 1, 0}, {"gpu:2", -1, -1}}),
              ElementsAre("1 300;", "0 300;", ""));
}

TEST(PredictedViewTest, BlocksHaveTheirKindAndMaker) {
  const ViewedEntry entry = Predicted(Perceptron()).entries[0];
  std::vector<std::pair<std::string, BlockView::Kind>> first, second;
  for (const BlockView& block : entry.memory[0].blocks) {
    first.emplace_back(block.name, block.kind);
  }
  for (const BlockView& block : entry.memory[1].blocks) {
    second.emplace_back(block.name, block.kind);
  }
  using Kind = BlockView::Kind;
  EXPECT_THAT(
      first,
      ElementsAre(Pair("w1", Kind::kConstant), Pair("x", Kind::kInput),
                  Pair("gate", Kind::kInput), Pair("g", Kind::kActivation),
                  Pair("g.workspace", Kind::kWorkspace)));
  ASSERT_GE(second.size(), 2u);
  EXPECT_THAT(second[0], Pair("w2", Kind::kConstant));
  EXPECT_THAT(second[1], Pair("g.cpu1", Kind::kTransfer));
  EXPECT_TRUE(entry.memory[0].blocks[0].persistent);
  EXPECT_EQ(entry.boxes[entry.memory[0].blocks[3].box].name, "%g");
}

TEST(PredictedViewTest, WithoutAMachineNothingIsMadeUp) {
  absl::StatusOr<PlanView> view = ReadPlanView(Perceptron());
  ASSERT_TRUE(view.ok());
  EXPECT_TRUE(view->links.empty());
  EXPECT_TRUE(view->entries[0].path.empty());
  EXPECT_TRUE(view->entries[0].findings.empty());
  EXPECT_FALSE(view->entries[0].simulated);
}

TEST(DeviceWaitsTest, TheTimeBeforeAKernelIsOfWhatRanMeanwhile) {
  const ViewedEntry entry = Predicted(Perceptron()).entries[0];
  const std::vector<DeviceWait> waits = WaitsOf(entry, 1);
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0].what, DeviceWait::For::kKernels);
  EXPECT_EQ(waits[0].source, 0);
  EXPECT_NEAR(waits[0].seconds, 60e-6, 1e-12);
  EXPECT_EQ(waits[0].longest, CommandId(2));
  for (const DeviceWait& wait : {waits[1], waits[2]}) {
    EXPECT_LE(wait.seconds, waits[0].seconds);
    if (wait.what == DeviceWait::For::kTransfers) {
      EXPECT_NEAR(wait.seconds, 1e-6 + 1024 / 1e10, 1e-12);
      EXPECT_EQ(wait.longest, CommandId(5));
    } else {
      EXPECT_EQ(wait.what, DeviceWait::For::kPorts);
      EXPECT_EQ(wait.commands, 2);
    }
  }
  // All of them are the time until its first kernel.
  EXPECT_NEAR(waits[0].seconds + waits[1].seconds + waits[2].seconds,
              entry.commands[CommandId(8)].start, 1e-12);
}

TEST(FindingsTest, TheLongestWaitComesFirstAndNamesWhatItIsFor) {
  const ViewedEntry entry = Predicted(Perceptron()).entries[0];
  ASSERT_FALSE(entry.findings.empty());
  const FindingView& first = entry.findings[0];
  EXPECT_TRUE(absl::StartsWith(first.text, "cpu:1 waits ")) << first.text;
  EXPECT_TRUE(
      absl::EndsWith(first.text, " % of the step for fused %g on cpu:0"))
      << first.text;
  EXPECT_EQ(first.command, CommandId(2));
  EXPECT_EQ(first.box, 2);
  for (size_t i = 1; i < entry.findings.size(); ++i) {
    EXPECT_LE(entry.findings[i].seconds, entry.findings[i - 1].seconds);
  }
}

TEST(FindingsTest, AFullArenaABusyLinkAndAnIdleDeviceAreFound) {
  PlanView view = Predicted(Perceptron());
  ViewedEntry& entry = view.entries[0];
  entry.memory[0].limit = entry.memory[0].arena + 1;
  entry.link_loads[0][1] = {7, 4096, entry.end * 0.8};
  entry.bound_seconds = entry.step_seconds / 4;
  entry.bound_by = "load of cpu:0";
  entry.boxes[2].kernel = "reference.eval";
  const std::string all =
      testing::PrintToString(Texts(FindingsOf(view, entry)));
  for (const char* text :
       {"the arena of cpu:0 fills 100 % of its memory",
        "the link from cpu:1 to cpu:0 is busy 80 % of the step: 7 transfers, "
        "4.0 KiB",
        "the step takes 4.0 times the lower bound: load of cpu:0",
        "1 node runs by a reference loop",
        "is the longest of the critical path"}) {
    EXPECT_TRUE(absl::StrContains(all, text)) << text << "\n" << all;
  }
}

// The finding about the lower bound that this limits.
FindingView FarFromBound(const std::string& bound_by) {
  PlanView view = Predicted(Perceptron());
  ViewedEntry& entry = view.entries[0];
  entry.bound_seconds = entry.step_seconds / 4;
  entry.bound_by = bound_by;
  for (const FindingView& finding : FindingsOf(view, entry)) {
    if (absl::EndsWith(finding.text, bound_by)) return finding;
  }
  ADD_FAILURE() << "found no finding about " << bound_by;
  return {};
}

TEST(FindingsTest, TheLowerBoundPointsToTheDeviceOrTheLinkThatItNames) {
  EXPECT_EQ(FarFromBound("load of cpu:1 and 1 like it").device, 1);
  EXPECT_EQ(FarFromBound("feeds and fetches of cpu:0").device, 0);
  const FindingView link = FarFromBound("link cpu:0 - cpu:1");
  EXPECT_EQ(link.link, 0);
  EXPECT_EQ(link.device, -1);
  EXPECT_EQ(FarFromBound("critical path").device, -1);
  EXPECT_EQ(FarFromBound("load of cpu:10").device, -1);
}

TEST(FindingsTest, LinksWithTheSameLoadAreOneFinding) {
  PlanView view = Predicted(Perceptron());
  ViewedEntry& entry = view.entries[0];
  const LinkLoad load = {2, 64, entry.end / 2};
  view.links.push_back(view.links[0]);
  entry.link_loads = {{load, load}, {load, {}}};
  int links = 0;
  for (const FindingView& finding : FindingsOf(view, entry)) {
    if (!absl::StartsWith(finding.text, "the link ")) continue;
    ++links;
    EXPECT_EQ(finding.text,
              "the link from cpu:0 to cpu:1 and 2 like it are busy 50 % of the "
              "step: 2 transfers, 64 B each");
  }
  EXPECT_EQ(links, 1);
}

TEST(FindingsTest, WithoutDuplexBothDirectionsAreOneLoad) {
  PlanView view = Predicted(Perceptron());
  ViewedEntry& entry = view.entries[0];
  view.links[0].duplex = false;
  entry.link_loads[0] = {LinkLoad{1, 64, entry.end / 4},
                         LinkLoad{1, 36, entry.end / 4}};
  EXPECT_THAT(Texts(FindingsOf(view, entry)),
              testing::Contains("the link from cpu:0 to cpu:1 is busy 50 % of "
                                "the step: 2 transfers, 100 B"));
}

TEST(FindingsTest, ReferenceLoopsOfSeveralDevicesTakeTheirTimeAtOnce) {
  PlanView view = Predicted(Perceptron());
  ViewedEntry& entry = view.entries[0];
  // %g on cpu:0 and %p on cpu:1 compute all the time.
  for (const int c : {2, 9}) {
    CommandView& command = entry.commands[CommandId(c)];
    command.start = 0;
    command.end = entry.end;
    entry.boxes[command.box].kernel = "reference.eval";
  }
  EXPECT_THAT(Texts(FindingsOf(view, entry)),
              testing::Contains(
                  "2 nodes run by a reference loop, which is slow: 100 % "
                  "of the step on cpu:0, the longest matmul+relu+mul %g"));
}

// Devices that run kernels of so many seconds.
PlanView Devices(const std::vector<double>& seconds) {
  PlanView view;
  view.entries.emplace_back();
  ViewedEntry& entry = view.entries[0];
  for (size_t d = 0; d < seconds.size(); ++d) {
    const int device = static_cast<int>(d);
    view.devices.push_back({absl::StrCat("gpu:", d), "cuda", 100});
    entry.streams.push_back({"compute", device});
    entry.memory.push_back({.device = device, .limit = 100, .arena = 50});
    CommandView kernel;
    kernel.stream = device;
    kernel.kind = "kernel";
    kernel.end = seconds[d];
    entry.commands.Add(std::move(kernel));
  }
  return view;
}

TEST(EqualDevicesTest, DevicesThatDoTheSameAreOneList) {
  PlanView view = Devices({1, 1.005, 2, 1, 2});
  EXPECT_THAT(EqualDevices(view),
              ElementsAre(ElementsAre(0, 1, 3), ElementsAre(2, 4)));
  view.devices[3].memory = 200;
  view.entries[0].memory[4].arena = 60;
  EXPECT_THAT(EqualDevices(view), ElementsAre(ElementsAre(0, 1), ElementsAre(2),
                                              ElementsAre(3), ElementsAre(4)));
  EXPECT_EQ(NameOfEqual(view, {0, 1}), "gpu:0 and 1 like it");
  EXPECT_EQ(NameOfEqual(view, {2}), "gpu:2");
}

MeasuredTrace TraceOf(const ViewedEntry& entry, double factor) {
  MeasuredTrace trace;
  for (const CommandView& command : entry.commands) {
    trace.commands.Add({command.start, command.end});
  }
  // %p alone takes longer.
  trace.commands[CommandId(9)].second +=
      (factor - 1) * (trace.commands[CommandId(9)].second -
                      trace.commands[CommandId(9)].first);
  return trace;
}

TEST(ResidualsTest, TheLargestDifferenceComesFirst) {
  const ViewedEntry entry = Predicted(Perceptron()).entries[0];
  const Residuals residuals = ResidualsOf(entry, TraceOf(entry, 3));
  ASSERT_EQ(residuals.nodes.size(), 3u);
  EXPECT_EQ(entry.boxes[residuals.nodes[0].box].name, "%p");
  EXPECT_NEAR(residuals.nodes[0].predicted, 10e-6, 1e-12);
  EXPECT_NEAR(residuals.nodes[0].measured, 30e-6, 1e-12);
  ASSERT_EQ(residuals.ops.size(), 3u);
  EXPECT_EQ(residuals.ops[0].op, "softmax");
  EXPECT_EQ(residuals.ops[0].nodes, 1);
}

TEST(ResidualsTest, AFarMissOfThePredictionIsAFinding) {
  PlanView view = Predicted(Perceptron());
  ViewedEntry& entry = view.entries[0];
  const size_t before = entry.findings.size();
  MeasuredTrace trace = TraceOf(entry, 1.1);
  trace.end = entry.end;
  AddResidualFinding(trace, view);
  EXPECT_EQ(entry.findings.size(), before);
  trace = TraceOf(entry, 100);
  trace.end = trace.commands[CommandId(9)].second;
  AddResidualFinding(trace, view);
  ASSERT_EQ(entry.findings.size(), before + 1);
  const FindingView& first = entry.findings[0];
  EXPECT_TRUE(absl::StartsWith(first.text, "softmax takes ")) << first.text;
  EXPECT_TRUE(absl::EndsWith(first.text, "in 1 node, 100 times its prediction"))
      << first.text;
  EXPECT_EQ(entry.boxes[first.box].name, "%p");
}

TEST(ResidualsTest, TimesOfEmulatedDevicesAreNoFinding) {
  PlanView view = Predicted(Perceptron());
  ViewedEntry& entry = view.entries[0];
  const size_t before = entry.findings.size();
  MeasuredTrace trace = TraceOf(entry, 100);
  trace.end = trace.commands[CommandId(9)].second;
  trace.emulated = {"cpu:0"};
  AddResidualFinding(trace, view);
  EXPECT_EQ(entry.findings.size(), before);
}

TEST(ResidualsTest, DevicesThatComputeAtOnceShareTheStep) {
  PlanView view = Devices({1, 1});
  ViewedEntry& entry = view.entries[0];
  entry.timed = true;
  entry.end = 1;
  BoxView box;
  box.op = "conv";
  box.devices = {0, 1};
  box.commands = {CommandId(0), CommandId(1)};
  entry.boxes.push_back(box);
  MeasuredTrace trace;
  trace.end = 4;
  trace.commands.Add({0, 3});
  trace.commands.Add({0, 3});
  AddResidualFinding(trace, view);
  EXPECT_THAT(Texts(entry.findings),
              ElementsAre("conv takes 75 % of the measured step in 1 node, "
                          "averaged over 2 devices, 3 times its prediction"));
}

TEST(ResidualsTest, AnOpNearItsPredictionHidesNoOther) {
  PlanView view = Devices({10, 1});
  ViewedEntry& entry = view.entries[0];
  entry.timed = true;
  entry.end = 11;
  for (const int c : {0, 1}) {
    BoxView box;
    box.op = c == 0 ? "matmul" : "relu";
    box.commands = {CommandId(c)};
    entry.boxes.push_back(box);
  }
  MeasuredTrace trace;
  trace.end = 17;
  trace.commands.Add({0, 13});
  trace.commands.Add({13, 16});
  AddResidualFinding(trace, view);
  EXPECT_THAT(Texts(entry.findings),
              ElementsAre("relu takes 18 % of the measured step in 1 node, 3 "
                          "times its prediction"));
  EXPECT_EQ(entry.findings[0].box, 1);
}

TEST(NodesOfInterestTest, FindingsComeFirstThenThePath) {
  ViewedEntry entry = Predicted(Perceptron()).entries[0];
  entry.findings.clear();
  const auto names = [&](int most) {
    std::vector<std::string> list;
    for (int box : NodesOfInterest(entry, most)) {
      list.push_back(entry.boxes[box].name);
    }
    return list;
  };
  EXPECT_THAT(names(8), ElementsAre("%g", "%l", "%p"));
  FindingView about_p;
  about_p.box = entry.commands[CommandId(9)].box;
  entry.findings.push_back(about_p);
  EXPECT_THAT(names(2), ElementsAre("%p", "%g"));
  // The copy stands for the node that made its value.
  entry.findings[0].box = entry.commands[CommandId(5)].box;
  EXPECT_THAT(names(1), ElementsAre("%g"));
}

PlanDiff NoDifference() {
  PlanDiff diff{.name_a = "mlp", .name_b = "mlp"};
  EntryDiff& entry = diff.entries.emplace_back();
  entry.a.name = entry.b.name = "mlp";
  return diff;
}

TEST(DiffViewTest, NodesInputsAndOutputsArePairs) {
  const Plan plan = Perceptron();
  const PlanView view = Predicted(plan);
  const DiffView diff = ReadDiffView(plan, view, plan, view, NoDifference());
  ASSERT_EQ(diff.entries.size(), 1u);
  std::vector<std::string> names;
  for (const auto& [a, b] : diff.entries[0].boxes) {
    EXPECT_EQ(a, b);
    names.push_back(view.entries[0].boxes[a].name);
  }
  EXPECT_THAT(names, ElementsAre("%x", "%gate", "%g", "%l", "%p", "p"));
}

TEST(PageDataTest, TwoPlansShareTheirStringsAndHaveADifference) {
  const Plan plan = Perceptron();
  const PlanView view = Predicted(plan);
  PlanDiff difference = NoDifference();
  // Two lists of two names look like an object to a JSON library.
  difference.entries[0].only_a = {"a", "b"};
  difference.entries[0].only_b = {"c", "d"};
  PageData one, two;
  one.AddPlan(view, {});
  two.AddPlan(view, {});
  two.AddPlan(view, {});
  two.SetDiff(ReadDiffView(plan, view, plan, view, std::move(difference)));
  const nlohmann::json single = nlohmann::json::parse(one.Text());
  const nlohmann::json both = nlohmann::json::parse(two.Text());
  EXPECT_TRUE(single["diff"].is_null());
  EXPECT_EQ(both["plans"].size(), 2u);
  EXPECT_EQ(both["strings"], single["strings"]);
  const nlohmann::json& only = both["diff"]["entries"][0]["only"];
  ASSERT_TRUE(only.is_array());
  EXPECT_EQ(only[1][0], "c");
}

TEST(PageDataTest, AStepOfNearlyNoLengthHasATick) {
  PlanView view = Predicted(Perceptron());
  view.entries[0].end = 1e-320;
  PageData data;
  data.AddPlan(view, {});
  const nlohmann::json page = nlohmann::json::parse(data.Text());
  EXPECT_EQ(page["plans"][0]["entries"][0]["tick"], 1.0);
}

TEST(PageDataTest, ColumnsAreExactToABillionthOfTheStep) {
  const PlanView view = Predicted(Perceptron());
  PageData data;
  data.AddPlan(view, {TraceOf(view.entries[0], 2)});
  const nlohmann::json plan = nlohmann::json::parse(data.Text())["plans"][0];
  const nlohmann::json& entry = plan["entries"][0];
  const double tick = entry["tick"];
  const ViewedEntry& own = view.entries[0];
  for (CommandId c : own.commands.ids()) {
    const int64_t start = entry["commands"]["start"][c.index];
    EXPECT_NEAR(start * tick, own.commands[c].start, own.end * 1e-9);
  }
  EXPECT_EQ(entry["boxes"]["name"].size(), own.boxes.size());
  EXPECT_EQ(entry["boxes"]["operandStart"].size(), own.boxes.size() + 1);
  EXPECT_EQ(plan["traces"][0]["nodes"].size(), 3u);
}

}  // namespace
}  // namespace partita
