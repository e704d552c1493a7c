// Tests of the viewer's data, layout and texts.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "graph/ops/op_set.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "runtime/plan/chrome_trace.h"
#include "runtime/plan/plan_text.h"
#include "tools/viewer/covered_time.h"
#include "tools/viewer/html_page.h"
#include "tools/viewer/layered_layout.h"
#include "tools/viewer/measured_trace.h"
#include "tools/viewer/page_json.h"
#include "tools/viewer/plan_view.h"
#include "tools/viewer/scope_tree.h"
#include "tools/viewer/transfer_ledger.h"

namespace partita {
namespace {

std::string ReadText(const std::string& name) {
  std::ifstream file("tools/viewer/testdata/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Commands 0..10: two feeds, %g and record on cpu:0; wait, copy and record on
// its copy stream; wait, %l, %p and fetch on cpu:1.
Plan Perceptron() {
  absl::StatusOr<Plan> plan = ParsePlan(ReadText("perceptron.plan.txt"),
                                        "perceptron", OpSet::BuiltIn());
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

// Times for the commands, in microseconds.
void AddTimes(Plan& plan, const std::vector<std::pair<int, int>>& times) {
  EntryNotes notes;
  for (const auto& [start, end] : times) {
    notes.predicted.push_back({start * 1e-6, end * 1e-6});
  }
  notes.nodes.push_back({plan.entries[0].graph->order()[1], "pinned", 2e-6});
  notes.step_seconds = 20e-6;
  notes.bound_seconds = 5e-6;
  plan.notes.emplace();
  plan.notes->entries.push_back(std::move(notes));
}

const std::vector<std::pair<int, int>> kTimes = {
    {0, 1},   {1, 2},  {2, 8},   {8, 8},   {0, 8},  {8, 11},
    {11, 11}, {0, 11}, {11, 15}, {15, 18}, {18, 20}};

PlanView View(const Plan& plan) {
  absl::StatusOr<PlanView> view = ReadPlanView(plan);
  EXPECT_TRUE(view.ok()) << view.status();
  return *std::move(view);
}

Plan TimedPerceptron() {
  Plan plan = Perceptron();
  AddTimes(plan, kTimes);
  return plan;
}

TEST(PlanViewTest, BoxesAreNodesInputsAndOutputsWithoutConstants) {
  const ViewedEntry entry = View(TimedPerceptron()).entries[0];
  ASSERT_EQ(entry.boxes.size(), 7u);
  const BoxView& g = entry.boxes[2];
  EXPECT_EQ(g.name, "%g");
  EXPECT_EQ(g.op, "matmul+relu+mul");
  EXPECT_EQ(g.scope, "hidden");
  EXPECT_EQ(g.reason, "pinned");
  EXPECT_EQ(g.kernel, "onednn.matmul");
  EXPECT_EQ(g.workspace, 640);
  EXPECT_EQ(g.commands, std::vector<CommandId>({CommandId(2)}));
  ASSERT_EQ(g.operands.size(), 3u);
  EXPECT_EQ(g.operands[0].box, 0);
  EXPECT_EQ(g.operands[1].name, "%w1");
  EXPECT_EQ(g.operands[1].box, -1);
  EXPECT_EQ(entry.commands[CommandId(2)].box, 2);
  EXPECT_EQ(entry.commands[CommandId(3)].box, -1);
}

TEST(PlanViewTest, OnlyEdgesBetweenDevicesCross) {
  const ViewedEntry entry = View(Perceptron()).entries[0];
  std::string cut;
  for (const EdgeView& edge : entry.edges) {
    if (edge.cut) absl::StrAppend(&cut, edge.value, " ", edge.bytes, ";");
  }
  EXPECT_EQ(cut, "%g 1024;");
}

TEST(PlanViewTest, TheMemoryCurveReachesTheArena) {
  const ViewedEntry entry = View(TimedPerceptron()).entries[0];
  ASSERT_EQ(entry.memory.size(), 2u);
  // While %g runs, %w1, %x, %gate, %g and the workspace fill the arena.
  EXPECT_EQ(entry.memory[0].arena, 2048 + 3200);
  EXPECT_EQ(entry.memory[0].peak, entry.memory[0].arena);
  EXPECT_EQ(entry.memory[1].peak, entry.memory[1].arena);
  EXPECT_EQ(entry.memory[0].limit, 67108864);
  // The persistent bytes stay to the end.
  EXPECT_EQ(entry.memory[0].points.back().second, 2048);
}

TEST(PlanViewTest, APlanWithoutNotesShowsTheOrderOfLaunch) {
  const ViewedEntry entry = View(Perceptron()).entries[0];
  EXPECT_FALSE(entry.timed);
  EXPECT_EQ(entry.commands[CommandId(4)].start, 4);
  EXPECT_EQ(entry.end, 11);
}

TEST(PlanViewTest, NotesThatDoNotFitAreRefused) {
  Plan plan = Perceptron();
  AddTimes(plan, {{0, 1}});
  EXPECT_EQ(
      ReadPlanView(plan).status().message(),
      "notes of entry @mlp: found times of 1 commands of 11; expected the "
      "notes that compile wrote; compile the plan again, or remove its "
      "notes");
  plan = TimedPerceptron();
  plan.notes->entries[0].predicted[3].end_seconds = -1;
  EXPECT_FALSE(ReadPlanView(plan).ok());
  plan = TimedPerceptron();
  plan.notes->entries[0].nodes[0].node = NodeId(1000);
  EXPECT_FALSE(ReadPlanView(plan).ok());
  plan = TimedPerceptron();
  plan.notes->entries[0].step_seconds = std::nan("");
  EXPECT_FALSE(ReadPlanView(plan).ok());
}

TEST(PlanViewTest, APlanThatIsNotProvedIsRefused) {
  Plan plan = Perceptron();
  plan.devices[0].memory = 100;
  EXPECT_EQ(ReadPlanView(plan).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TransferLedgerTest, RowsSayWhatMovesAndWhy) {
  const std::vector<TransferView> rows =
      View(TimedPerceptron()).entries[0].transfers;
  ASSERT_EQ(rows.size(), 4u);  // two feeds, the copy, the fetch
  EXPECT_EQ(rows[0].from, "caller");
  EXPECT_EQ(rows[0].reason, "read by matmul+relu+mul %g (pinned)");
  EXPECT_EQ(rows[2].from, "cpu:0");
  EXPECT_EQ(rows[2].to, "cpu:1");
  EXPECT_EQ(rows[2].value, "%g.cpu1");
  EXPECT_EQ(rows[2].bytes, 1024);
  EXPECT_EQ(rows[2].reason, "read by matmul %l");
  EXPECT_EQ(rows[3].to, "caller");
}

TEST(TransferLedgerTest, ATransferIsHiddenWhileItsReceiverComputes) {
  EXPECT_FALSE(View(TimedPerceptron()).entries[0].transfers[2].hidden);
  // As if cpu:1 computed %p during two of the copy's three microseconds.
  std::vector<std::pair<int, int>> times = kTimes;
  times[9] = {9, 11};
  Plan plan = Perceptron();
  AddTimes(plan, times);
  TransferView row = View(plan).entries[0].transfers[2];
  EXPECT_FALSE(row.hidden);
  EXPECT_NEAR(row.hidden_seconds, 2e-6, 1e-12);
  // And during all of them.
  plan.notes->entries[0].predicted[9].start_seconds = 7e-6;
  row = View(plan).entries[0].transfers[2];
  EXPECT_TRUE(row.hidden);
  EXPECT_NEAR(row.hidden_seconds, 3e-6, 1e-12);
}

TEST(TransferLedgerTest, SharedTimeIsCoveredOnce) {
  const CoveredTime busy({{9, 20}, {2, 4}, {1, 3}, {2, 3}});
  EXPECT_EQ(busy.Within(0, 10), 4);
  EXPECT_EQ(busy.Within(2, 3), 1);
  EXPECT_EQ(busy.Within(0, 1), 0);
  EXPECT_EQ(busy.Within(4, 9), 0);
  EXPECT_EQ(busy.Within(10, 30), 10);
  EXPECT_EQ(CoveredTime({{0, 10}}).Within(5, 5), 0);
  EXPECT_EQ(CoveredTime({}).Within(0, 10), 0);
}

// Boxes by scope, and edges, without a graph.
ViewedEntry Drawing(const std::vector<std::string>& scopes,
                    const std::vector<std::pair<int, int>>& edges) {
  ViewedEntry entry;
  for (size_t i = 0; i < scopes.size(); ++i) {
    BoxView box;
    box.name = absl::StrCat("%", i);
    box.scope = scopes[i];
    box.devices = {0};
    entry.boxes.push_back(box);
  }
  for (const auto& [from, to] : edges) entry.edges.push_back({from, to});
  return entry;
}

TEST(ScopeTreeTest, GroupsOfOneItemAreOmitted) {
  const ScopeTree tree = GroupByScope(
      Drawing({"net/a/x", "net/a/y", "net/b", "net/a/y", "z"}, {}));
  ASSERT_EQ(tree.groups.size(), 4u);
  EXPECT_EQ(tree.groups[1].name, "net");
  EXPECT_EQ(tree.groups[2].name, "a");
  EXPECT_EQ(tree.groups[3].name, "y");
  EXPECT_EQ(tree.group_of, std::vector<int>({2, 3, 1, 3, 0}));
}

TEST(ScopeTreeTest, WithoutScopesNeighboursOfADeviceAreGrouped) {
  ViewedEntry entry = Drawing(std::vector<std::string>(40, ""), {});
  for (int b = 20; b < 40; ++b) entry.boxes[b].devices = {1};
  const ScopeTree tree = GroupByScope(entry);
  ASSERT_EQ(tree.groups.size(), 5u);
  EXPECT_EQ(tree.groups[1].name, "%0 .. %15");
  EXPECT_EQ(tree.groups[2].name, "%16 .. %19");
  EXPECT_EQ(tree.groups[3].name, "%20 .. %35");
}

TEST(ScopeTreeTest, NoGroupHasManyItems) {
  for (const char* scope : {"", "net"}) {
    const int count = 5000;
    ViewedEntry entry =
        Drawing(std::vector<std::string>(count, scope), {{0, count - 1}});
    // Neighbours on different devices cannot stay apart everywhere.
    for (int b = 0; b < count; ++b) entry.boxes[b].devices = {b % 8};
    const ScopeTree tree = GroupByScope(entry);
    std::vector<int> items(tree.groups.size(), 0);
    for (int group : tree.group_of) ++items[group];
    for (size_t g = 1; g < tree.groups.size(); ++g) {
      EXPECT_LT(tree.groups[g].parent, static_cast<int>(g));
      ++items[tree.groups[g].parent];
    }
    for (int n : items) EXPECT_LE(n, 32);
  }
}

TEST(ScopeTreeTest, InputsAndNodesAreNeverInOneRun) {
  ViewedEntry entry = Drawing(std::vector<std::string>(100, ""), {});
  for (int b = 0; b < 100; ++b) {
    entry.boxes[b].devices = {b % 8};
    if (b < 40) entry.boxes[b].kind = BoxView::Kind::kInput;
  }
  const ScopeTree tree = GroupByScope(entry);
  for (int input = 0; input < 40; ++input) {
    for (int node = 40; node < 100; ++node) {
      EXPECT_NE(tree.group_of[input], tree.group_of[node]);
    }
  }
}

TEST(ScopeTreeTest, DeepScopesAreBounded) {
  std::string deep;
  for (int i = 0; i < 10000; ++i) absl::StrAppend(&deep, "a/");
  const ScopeTree tree =
      GroupByScope(Drawing({deep + "x", deep + "y", deep}, {}));
  EXPECT_LE(tree.groups.size(), 15u);
}

TEST(LayeredLayoutTest, ItemsAreBelowWhatTheyRead) {
  const std::vector<LayoutGroup> groups = LayOut(
      Drawing({"", "", "", "", ""}, {{0, 1}, {1, 3}, {0, 3}, {2, 3}, {3, 4}}));
  ASSERT_EQ(groups.size(), 1u);
  ASSERT_EQ(groups[0].layers.size(), 4u);
  EXPECT_EQ(groups[0].layers[0], std::vector<int>({0}));
  // 1; the lane of the edge from 0 to 3; and 2, right above its reader.
  EXPECT_EQ(groups[0].layers[1].size(), 3u);
  EXPECT_EQ(groups[0].layers[2], std::vector<int>({3}));
  EXPECT_EQ(groups[0].layers[3], std::vector<int>({4}));
}

TEST(LayeredLayoutTest, GroupsThatReadEachOtherAreLaidOut) {
  const std::vector<LayoutGroup> groups =
      LayOut(Drawing({"a", "b", "a", "b"}, {{0, 1}, {1, 2}, {2, 3}}));
  ASSERT_EQ(groups.size(), 3u);
  ASSERT_EQ(groups[0].layers.size(), 2u);
  EXPECT_EQ(groups[0].items[groups[0].layers[0][0]].index, 1);
  EXPECT_EQ(groups[0].routes.size(), 2u);  // there and back
  EXPECT_EQ(groups[1].num_boxes, 2);
}

TEST(LayeredLayoutTest, SweepsUncrossEdges) {
  const std::vector<LayoutGroup> groups =
      LayOut(Drawing({"", "", "", ""}, {{0, 3}, {1, 2}}));
  ASSERT_EQ(groups[0].layers.size(), 2u);
  const std::vector<int>& top = groups[0].layers[0];
  const std::vector<int>& bottom = groups[0].layers[1];
  EXPECT_EQ(top[0] == 0, bottom[0] == 3);
}

Timeline Measured() {
  Timeline timeline;
  timeline.name = "measured";
  timeline.tracks = {
      {"cpu:0", "compute"}, {"cpu:0", "copy:cpu:1"}, {"cpu:1", "compute"}};
  const PlanView view = View(TimedPerceptron());
  for (CommandId c : view.entries[0].commands.ids()) {
    const CommandView& command = view.entries[0].commands[c];
    timeline.spans.push_back({command.stream,
                              command.title,
                              command.kind,
                              2 * command.start,
                              2 * command.end,
                              {{"command", absl::StrCat(c.index)}}});
  }
  return timeline;
}

TEST(MeasuredTraceTest, ReadsWhatTheOneWriterWrites) {
  const absl::StatusOr<MeasuredTrace> trace = ReadMeasuredTrace(
      ChromeTraceJson({Measured()}), "t.json", View(TimedPerceptron()));
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_NEAR(trace->commands[CommandId(5)].first, 16e-6, 1e-12);
  EXPECT_NEAR(trace->end, 40e-6, 1e-12);
}

TEST(MeasuredTraceTest, ATraceSaysWhichDevicesWereEmulated) {
  const PlanView view = View(TimedPerceptron());
  Timeline timeline = Measured();
  const auto emulated = [&] {
    const absl::StatusOr<MeasuredTrace> trace =
        ReadMeasuredTrace(ChromeTraceJson({timeline}), "t.json", view);
    EXPECT_TRUE(trace.ok()) << trace.status();
    return trace->emulated;
  };
  EXPECT_EQ(emulated(), std::vector<std::string>());
  timeline.tracks[2].emulated = true;
  EXPECT_EQ(emulated(), std::vector<std::string>({"cpu:1"}));
  for (TraceTrack& track : timeline.tracks) track.emulated = true;
  EXPECT_EQ(emulated(), std::vector<std::string>({"cpu:0", "cpu:1"}));
  const std::string bad =
      absl::StrReplaceAll(ChromeTraceJson({timeline}), {{"\"emulated\"", "7"}});
  EXPECT_THAT(
      std::string(ReadMeasuredTrace(bad, "t.json", view).status().message()),
      ::testing::HasSubstr("expected labels"));
}

TEST(MeasuredTraceTest, RefusesWhatIsNoStepOfThePlan) {
  const PlanView view = View(TimedPerceptron());
  const auto refuses = [&](absl::string_view json) {
    return ReadMeasuredTrace(json, "t.json", view).status().code() ==
           absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refuses(""));
  EXPECT_TRUE(refuses("[]"));
  EXPECT_TRUE(refuses("{\"traceEvents\": [1]}"));
  EXPECT_TRUE(refuses("{\"traceEvents\": []}"));
  EXPECT_TRUE(refuses(std::string(100000, '[')));
  const std::string good = ChromeTraceJson({Measured()});
  EXPECT_FALSE(refuses(good));
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{
           {"\"command\": \"5\"", "\"command\": \"4\""},
           {"\"command\": \"5\"", "\"command\": \"99\""},
           {"\"command\": \"5\"", "\"command\": 5"},
           {"\"cat\": \"copy\"", "\"cat\": \"kernel\""},
           {"\"dur\": 6.000", "\"dur\": -1"},
           {"\"dur\": 6.000", "\"dur\": 1e300"},
           {"cpu:1 (measured)", "gpu:9 (measured)"},
           {"(measured)", "(predicted)"}}) {
    const std::string bad = absl::StrReplaceAll(good, {{from, to}});
    ASSERT_NE(bad, good) << from;
    EXPECT_TRUE(refuses(bad)) << to;
  }
}

TEST(HtmlPageTest, HostileNamesStayText) {
  PlanView view = View(TimedPerceptron());
  const std::string hostile =
      "</script><script>alert(1)</script><!-- & \"'\\ \xe2\x80\xa8 \xff";
  view.name = hostile;
  view.entries[0].boxes[0].name = hostile;
  view.entries[0].boxes[1].scope = hostile;
  PageData data;
  data.AddPlan(view, {});
  const std::string json = data.Text();
  EXPECT_EQ(json.find_first_of("<>&"), std::string::npos);
  for (char c : json) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
  const nlohmann::json back = nlohmann::json::parse(json);
  const int name = back["plans"][0]["entries"][0]["boxes"]["name"][0];
  EXPECT_EQ(back["strings"][name],
            absl::StrReplaceAll(hostile, {{"\xff", "\xef\xbf\xbd"}}));
}

TEST(HtmlPageTest, ThePageLoadsNothing) {
  const std::string page = ViewPage(View(TimedPerceptron()), {});
  EXPECT_EQ(page.find("/*PAGE_"), std::string::npos);
  EXPECT_EQ(page.find("<!--PAGE_"), std::string::npos);
  EXPECT_EQ(page.find(" src="), std::string::npos);
  EXPECT_EQ(page.find("href="), std::string::npos);
  EXPECT_EQ(page.find("https:"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

// One kernel repeated: browsers do not open a page with all.
TEST(PlanViewTest, OfALongStepTheFirstCommandsAreShown) {
  constexpr absl::string_view kText =
      R"(graph @f(%x: i8[2] on gpu:0) -> i8[2] {
  %y = neg %x : i8[2] on gpu:0
  return %y
}
plan @f {
  device gpu:0 cuda memory 100
    arena persistent 0 step 4
  entry @f of @f {
    input x i8[2]
    output y i8[2]
    arena gpu:0
      !x 0 2
      !y 2 2
    stream gpu:0/s
      0 feed -> !x input 0
      1 kernel %y (!x) -> !y
      2 fetch !y output 0
  }
}
)";
  auto plan = ParsePlan(kText, "plan", OpSet::BuiltIn());
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<Command>& commands = plan->entries[0].programs[0].commands;
  commands.insert(commands.begin() + 1, 310'000, commands[1]);
  const auto view = ReadPlanView(*plan);
  ASSERT_TRUE(view.ok()) << view.status();
  const ViewedEntry& entry = view->entries[0];
  EXPECT_EQ(entry.commands.size(), 300'000u);
  EXPECT_EQ(entry.commands_left_out, 10'003);
  EXPECT_EQ(entry.end, 310'003);
  EXPECT_LE(entry.memory[0].points.size(), 10'000u);
  EXPECT_EQ(entry.memory[0].peak, 4);
  EXPECT_LE(entry.memory[0].blocks.size(), 300'000u);
  EXPECT_GT(entry.memory[0].blocks_left_out, 0);
  PageData data;
  data.AddPlan(*view, {});
  const std::string page = data.Text();
  EXPECT_LT(page.size(), size_t{50} << 20);
  EXPECT_NE(page.find("\"commandsLeftOut\":10003"), std::string::npos);
}

}  // namespace
}  // namespace partita
