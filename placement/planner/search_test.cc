// Tests of the search, its estimate and its moves.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/draft_score.h"
#include "placement/planner/equal_nodes.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/item_splits.h"
#include "placement/planner/plan_sample.h"
#include "placement/planner/planner.h"
#include "placement/planner/search_budget.h"
#include "placement/planner/search_moves.h"
#include "placement/planner/search_problem.h"
#include "placement/planner/strategies.h"
#include "placement/planner/whole_placements.h"

namespace partita {
namespace {

// x -> n0 -> n1 ...
struct Line : SampleGraph {
  explicit Line(int length) {
    ValueId value = Input("x", kLine);
    for (int i = 0; i < length; ++i) {
      value = Work(absl::StrCat("n", i), {value}, kLine);
    }
    Return({value});
  }
};

// Two chains of two nodes.
struct TwoChains : SampleGraph {
  TwoChains() {
    const ValueId x = Input("x", kLine);
    const ValueId y = Input("y", kLine);
    const ValueId a = Work("a", {x}, kLine);
    const ValueId b = Work("b", {y}, kLine);
    Return({Work("c", {a}, kLine), Work("d", {b}, kLine)});
  }
};

// Two layers of a feed-forward block: the factors of each matmul are its rows,
// its columns and the sum, in the order of ItemSplits::of.
Module TwoLayers() {
  const char* text = R"(
graph @g(%x: f32[8, 16], %v: f32[16, 32], %w: f32[32, 16]) -> (f32[8, 16]) {
  %a = matmul %x, %v : f32[8, 32]
  %b = relu %a : f32[8, 32]
  %c = matmul %b, %w : f32[8, 16]
  return %c
}
)";
  return *ParseModule(text, "two layers", OpSet::BuiltIn());
}

// Numbers in ItemSplits::of.
int SplitOf(const SearchProblem& problem, int item, const Sharding& result) {
  const std::vector<ItemSplit>& splits = problem.space().splits.of(item);
  for (size_t i = 0; i < splits.size(); ++i) {
    if (splits[i].results[0] == result) return static_cast<int>(i);
  }
  ADD_FAILURE() << "no such split";
  return ItemPlace::kWhole;
}

Sharding Along(int dim) { return {.kind = Sharding::Kind::kSplit, .dim = dim}; }

const Sharding kPartial = {.kind = Sharding::Kind::kPartial};

TEST(ItemSplitsTest, AMatmulSplitsByRowsColumnsAndItsSum) {
  const Module module = TwoLayers();
  SearchProblem problem(module.main(), EqualCpus(2, 1 << 20));
  ASSERT_EQ(problem.space().splits.of(0).size(), 3u);
  for (const Sharding& result : {Along(0), Along(1), kPartial}) {
    EXPECT_GE(SplitOf(problem, 0, result), 0);
  }
  // One device leaves nothing to split over.
  SearchProblem alone(module.main(), EqualCpus(1, 1 << 20));
  EXPECT_TRUE(alone.space().splits.of(0).empty());
}

// Of two slices with equal types the aligned one is a view: no item, so that it
// has no splits and moves with none.
TEST(EqualNodesTest, ASliceThatIsAViewIsNotEqualToOneThatCopies) {
  const char* text = R"(
graph @g(%x: f32[64], %y: f32[64]) -> (f32[16], f32[16], f32[16]) {
  %copied = slice %x {sizes = [16], starts = [1]} : f32[16]
  %viewed = slice %x {sizes = [16], starts = [16]} : f32[16]
  %again = slice %y {sizes = [16], starts = [1]} : f32[16]
  %a = relu %copied : f32[16]
  %b = relu %viewed : f32[16]
  %c = relu %again : f32[16]
  return %a, %b, %c
}
)";
  const Module module = *ParseModule(text, "slices", OpSet::BuiltIn());
  SearchProblem problem(module.main(), EqualCpus(2, 1 << 20));
  const SearchSpace& space = problem.space();
  ASSERT_EQ(space.flow.items.size(), 5u);
  std::vector<size_t> sizes;
  for (const std::vector<NodeId>& nodes : EqualNodes(space.request)) {
    sizes.push_back(nodes.size());
    for (NodeId node : nodes) EXPECT_TRUE(space.request.costs.computes(node));
  }
  EXPECT_THAT(sizes, testing::ElementsAre(2, 3));
  EXPECT_EQ(space.splits.of(0).size(), 1u);
}

TEST(ItemDraftTest, ADraftOfAllNodesHasTheSameItems) {
  const Module module = TwoLayers();
  SearchProblem problem(module.main(), EqualCpus(2, 1 << 20));
  const ItemDraft items = {Split(SplitOf(problem, 0, Along(1))),
                           Split(SplitOf(problem, 1, Along(1))), kSecond};
  EXPECT_EQ(ItemDraftOf(problem.space(), DraftOf(problem.space(), items)),
            items);
}

// Column after column, a sum: what Megatron's block does without a transfer
// but the all-reduce at its end.
TEST(DraftTimerTest, EqualFormsNeedNoTransfer) {
  const Module module = TwoLayers();
  Machine machine = EqualCpus(2, 1 << 20);
  machine.links[0].latency = 100;
  SearchProblem problem(module.main(), machine);
  const ItemPlace columns = Split(SplitOf(problem, 0, Along(1)));
  const ItemPlace rows = Split(SplitOf(problem, 0, Along(0)));
  const ItemPlace same = Split(SplitOf(problem, 1, Along(1)));
  const ItemPlace sum = Split(SplitOf(problem, 2, kPartial));
  const double one = problem.Score({columns, same, sum}).seconds;
  EXPECT_GT(one, 100);
  EXPECT_LT(one, 300);
  // Rows must become columns first.
  EXPECT_GT(problem.Score({rows, same, sum}).seconds, one + 90);
}

// Each device is fed its columns only.
TEST(DraftTimerTest, AShardTakesItsShareOfMemory) {
  const Module module = TwoLayers();
  SearchProblem problem(module.main(), EqualCpus(2, 3000));
  EXPECT_GT(problem.Score({kFirst, kFirst, kFirst}).missing, 0);
  EXPECT_EQ(problem
                .Score({Split(SplitOf(problem, 0, Along(1))),
                        Split(SplitOf(problem, 1, Along(1))),
                        Split(SplitOf(problem, 2, kPartial))})
                .missing,
            0);
}

TEST(DraftTimerTest, ADeviceComputesOneNodeAtATime) {
  const TwoChains g;
  SearchProblem problem(g, EqualCpus(2, 10000));
  EXPECT_NEAR(problem.Score({kFirst, kFirst, kFirst, kFirst}).seconds, 4, 0.01);
  EXPECT_NEAR(problem.Score({kFirst, kSecond, kFirst, kSecond}).seconds, 2,
              0.01);
}

// A feed or fetch of 64 bytes takes 1.25 seconds.
Machine WithSlowPorts(DeviceKind kind) {
  Machine machine;
  machine.devices = {SampleDevice("device:0", kind, 10000)};
  machine.devices[0].traits.memory_bandwidth = 128;
  machine.devices[0].traits.launch_seconds = 0.25;
  return machine;
}

// Two nodes, each with an input and an output. On the GPU the second input is
// there after 2.5 seconds, the second node ends after 3.5, and the fetch of the
// first one then.
TEST(DraftTimerTest, AGpuFeedsAndFetchesBesideItsKernels) {
  SampleGraph g;
  const ValueId a = g.Work("a", {g.Input("x", kLine)}, kLine);
  const ValueId b = g.Work("b", {g.Input("z", kLine)}, kLine);
  g.Return({a, b});
  SearchProblem on_cpu(g, WithSlowPorts(DeviceKind::kCpu));
  EXPECT_DOUBLE_EQ(on_cpu.Score({kFirst, kFirst}).seconds,
                   2 * (1.25 + 1 + 1.25));
  SearchProblem on_gpu(g, WithSlowPorts(DeviceKind::kCuda));
  EXPECT_DOUBLE_EQ(on_gpu.Score({kFirst, kFirst}).seconds, 3.5 + 1.25);
}

// Four nodes of a second on each of two devices, in stages; steps of GPUs do
// not overlap.
TEST(DraftTimerTest, StepsInFlightShareTheStagesOfCpusOnly) {
  SearchQuestion two_steps;
  two_steps.objective.goal = Goal::kThroughput;
  two_steps.objective.depth = 2;
  const ItemDraft stages = {kFirst, kFirst, kSecond, kSecond};
  const Line g(4);
  Machine gpus = CpuAndGpus(2, 10000);
  gpus.devices.erase(gpus.devices.begin());
  gpus.links = {gpus.links.back()};
  EXPECT_NEAR(
      SearchProblem(g, EqualCpus(2, 10000), two_steps).Score(stages).seconds, 2,
      0.01);
  EXPECT_NEAR(SearchProblem(g, gpus, two_steps).Score(stages).seconds, 4, 0.01);
}

TEST(DraftTimerTest, ACopyTakesItsLink) {
  Machine machine = EqualCpus(2, 10000);
  machine.links[0].latency = 5;
  const Line g(2);
  SearchProblem problem(g, machine);
  EXPECT_NEAR(problem.Score({kFirst, kFirst}).seconds, 2, 0.01);
  EXPECT_NEAR(problem.Score({kFirst, kSecond}).seconds, 7, 0.01);
  // The second device computes n0 itself.
  EXPECT_NEAR(problem.Score({kBoth, kSecond}).seconds, 2, 0.01);
}

// What is made elsewhere, or fed elsewhere, goes over the link.
TEST(DraftTimerTest, OutputsAreBroughtToTheirDevice) {
  Machine machine = EqualCpus(2, 10000);
  machine.links[0].latency = 5;
  SearchQuestion on_second;
  on_second.options.output_device = "cpu:1";
  const Line g(2);
  SearchProblem problem(g, machine, on_second);
  EXPECT_NEAR(problem.Score({kFirst, kFirst}).seconds, 7, 0.01);
  EXPECT_NEAR(problem.Score({kSecond, kSecond}).seconds, 2, 0.01);
  EXPECT_NEAR(problem.Score({kFirst, kBoth}).seconds, 7, 0.01);

  SampleGraph passed;
  const ValueId x = passed.Input("x", kLine);
  const ValueId a = passed.Work("a", {passed.Input("z", kLine)}, kLine);
  passed.Return({x, a});
  SearchProblem of_input(passed, machine, on_second);
  EXPECT_NEAR(of_input.Score({kSecond}).seconds, 5, 0.01);
}

TEST(DraftTimerTest, OutputsTakeMemoryOnTheirDevice) {
  SearchQuestion on_second;
  on_second.options.output_device = "cpu:1";
  const Line g(1);
  Machine machine = EqualCpus(2, 10000);
  machine.devices[1].memory = 32;
  SearchProblem problem(g, machine, on_second);
  EXPECT_EQ(problem.Score({kFirst}).missing, 32);
  SearchProblem anywhere(g, machine);
  EXPECT_EQ(anywhere.Score({kFirst}).missing, 0);
}

TEST(DraftTimerTest, WhatHasNoLinkIsWorseThanWhatLacksMemory) {
  Machine machine = EqualCpus(2, 1);
  machine.links.clear();
  const Line g(2);
  SearchProblem problem(g, machine);
  const DraftScore alone = problem.Score({kFirst, kFirst});
  const DraftScore apart = problem.Score({kFirst, kSecond});
  EXPECT_GT(alone.missing, 0);
  EXPECT_LT(alone, apart);
}

// Two values of 64 bytes live at a time: what a node reads and what it makes.
TEST(DraftTimerTest, ValuesTakeMemoryUntilTheirLastReader) {
  for (int length : {2, 20}) {
    const Line g(length);
    SearchProblem problem(g, EqualCpus(2, 2 * 64));
    EXPECT_EQ(problem.Score(ItemDraft(length, kFirst)).missing, 0);
    SearchProblem small(g, EqualCpus(2, 64));
    EXPECT_EQ(small.Score(ItemDraft(length, kFirst)).missing, 64);
  }
}

// DraftData has each node on both devices.
TEST(SearchTest, AFunctionThatFollowsIsPlacedByTheFastestStrategy) {
  for (const double of_both : {1.0, 3.0}) {
    SearchQuestion question;
    question.objective.predict = [&](absl::Span<const Placement> placements) {
      double seconds = 2;
      for (const Placement& placement : placements) {
        if (placement.devices.size() == 2) seconds = of_both;
      }
      return PredictedDraft{{0, 0}, seconds};
    };
    question.objective.needed_bytes = [](absl::Span<const Placement>) {
      return std::vector<int64_t>{0, 0};
    };
    const Line g(3);
    const SearchProblem problem(g, EqualCpus(2, 10000), question);
    const absl::StatusOr<Draft> draft = FollowSearch(problem.request());
    ASSERT_TRUE(draft.ok()) << draft.status();
    const NodeId node = problem.space().flow.items[0].node;
    EXPECT_EQ(draft->assignment[node].devices.size(), of_both < 2 ? 2u : 1u);
  }
}

TEST(SearchMovesTest, EveryMoveChangesSomething) {
  const TwoChains g;
  SearchProblem problem(g, EqualCpus(2, 10000));
  const ItemDraft draft = {kFirst, kFirst, kFirst, kSecond};
  const std::vector<Move> moves = problem.Moves(draft);
  EXPECT_FALSE(moves.empty());
  for (const Move& move : moves) {
    ASSERT_FALSE(move.empty());
    for (const auto& [item, place] : move) EXPECT_NE(draft[item], place);
  }
  EXPECT_EQ(problem.Moves(draft, 3).size(), 3u);
}

TEST(SearchMovesTest, UndoRestoresTheDraft) {
  const Module module = TwoLayers();
  SearchProblem problem(module.main(), EqualCpus(2, 1 << 20));
  const ItemDraft before = {kFirst, kBoth, Split(1)};
  for (const Move& move : problem.Moves(before)) {
    ItemDraft draft = before;
    const Move undo = UndoOf(draft, move);
    Apply(move, draft);
    EXPECT_NE(draft, before);
    Apply(undo, draft);
    EXPECT_EQ(draft, before);
  }
}

// n1, and n1 with n2, go to the first device; n0 goes to the second.
TEST(SearchMovesTest, BordersMove) {
  const Line g(3);
  SearchProblem problem(g, EqualCpus(2, 10000));
  const std::vector<Move> moves = problem.Moves({kFirst, kSecond, kSecond});
  for (const Move& border : {Move{{1, kFirst}}, Move{{0, kSecond}},
                             Move{{1, kFirst}, {2, kFirst}}}) {
    EXPECT_TRUE(absl::c_linear_search(moves, border));
  }
}

TEST(SearchMovesTest, AnItemIsReplicatedWhereItIsRead) {
  const Line g(2);
  SearchProblem problem(g, EqualCpus(2, 10000));
  EXPECT_TRUE(absl::c_linear_search(problem.Moves({kFirst, kSecond}),
                                    Move{{0, kBoth}}));
}

// n1 goes to the second device, and n0 is made there too.
TEST(SearchMovesTest, AnItemTakesItsMakersAlong) {
  const Line g(2);
  SearchProblem problem(g, EqualCpus(2, 10000));
  EXPECT_TRUE(absl::c_linear_search(problem.Moves({kFirst, kFirst}),
                                    Move{{1, kSecond}, {0, kBoth}}));
}

// Splitting the first matmul by columns splits the relu, and sums the second.
TEST(SearchMovesTest, AFamilyIsSplitTogether) {
  const Module module = TwoLayers();
  SearchProblem problem(module.main(), EqualCpus(2, 1 << 20));
  const Move family = {{0, Split(SplitOf(problem, 0, Along(1)))},
                       {1, Split(SplitOf(problem, 1, Along(1)))},
                       {2, Split(SplitOf(problem, 2, kPartial))}};
  EXPECT_TRUE(
      absl::c_linear_search(problem.Moves({kFirst, kFirst, kFirst}), family));
}

// The devices of the node that makes the value.
std::string DevicesOf(const SampleGraph& g, const PlacementTable& table,
                      ValueId value) {
  const NodeId node = g.node(value);
  return absl::StrJoin(table.nodes[node.index].placement.devices, ",");
}

// A number of as many digits as there are items that are not pinned.
TEST(WholePlacementsTest, CountsEachOnce) {
  const Line g(3);
  const SearchProblem problem(g, EqualCpus(2, 10000));
  const WholePlacements all(problem.space());
  EXPECT_EQ(all.CountUpTo(100), 8);
  EXPECT_EQ(all.CountUpTo(8), 8);
  EXPECT_EQ(all.CountUpTo(7), 8);
  EXPECT_EQ(all.CountUpTo(3), 4);
  std::vector<ItemDraft> drafts = {all.First(ItemDraft(3, kBoth))};
  EXPECT_EQ(drafts[0], ItemDraft(3, kFirst));
  ItemDraft draft = drafts[0];
  while (all.Next(draft)) {
    EXPECT_FALSE(absl::c_linear_search(drafts, draft));
    drafts.push_back(draft);
  }
  EXPECT_EQ(drafts.size(), 8u);
  EXPECT_EQ(drafts.back(), ItemDraft(3, kSecond));
}

TEST(SearchBudgetTest, FewEvaluationsAreForTheBestSeeds) {
  const auto budget = [](int64_t evaluations, int64_t seeds) {
    const ClimbBudget found = ClimbBudgetFor(evaluations, seeds);
    return std::vector<int64_t>{found.climbs, found.evaluations};
  };
  EXPECT_EQ(budget(4000, 10), (std::vector<int64_t>{10, 300}));
  EXPECT_EQ(budget(200, 12), (std::vector<int64_t>{12, 12}));
  EXPECT_EQ(budget(100, 12), (std::vector<int64_t>{9, 8}));
  EXPECT_EQ(budget(16, 12), (std::vector<int64_t>{1, 12}));
  EXPECT_EQ(budget(4, 0), (std::vector<int64_t>{1, 3}));
}

// The earliest finish takes the far device for the second node, because it is
// free; the third needs both, and waits for the slow link.
TEST(SearchTest, FindsWhatEarliestFinishMisses) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId a = g.Work("a", {x}, kLine);
  const ValueId b = g.Work("b", {x}, kLine);
  const ValueId c = g.Work("c", {a, b}, kLine);
  g.Return({c});
  Machine machine = EqualCpus(2, 10000);
  machine.links[0].latency = 1.5;
  const auto table = PlanBy("search", g, machine);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(DevicesOf(g, *table, a), DevicesOf(g, *table, b));
  EXPECT_EQ(DevicesOf(g, *table, a), DevicesOf(g, *table, c));
}

// Two readers on two devices: the shared node is computed on both.
TEST(SearchTest, ACheapNodeIsComputedOnBothDevices) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId a = g.Work("a", {x}, kLine);
  const ValueId b = g.Work("b", {a}, kLine);
  const ValueId c = g.Work("c", {a}, kLine);
  g.Return({b, c});
  Machine machine = EqualCpus(2, 10000);
  machine.links[0].latency = 100;
  const SampleCatalog catalog([](const std::string& name, const DeviceTraits&) {
    return name == "a" ? 0.1 : 10.0;
  });
  const auto table = PlanBy("search", g, machine, {}, catalog);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(DevicesOf(g, *table, a), "cpu:0,cpu:1");
  EXPECT_NE(DevicesOf(g, *table, b), DevicesOf(g, *table, c));
}

TEST(SearchTest, AFullDeviceGivesWayToTheNext) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId a = g.Work("a", {x, g.Weight("v", 8 * kLine)}, kLine);
  g.Return({g.Work("b", {a, g.Weight("w", 8 * kLine)}, kLine)});
  const Machine machine = EqualCpus(2, 12 * 64);
  const auto table = PlanBy("search", g, machine);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_NE(DevicesOf(g, *table, a),
            DevicesOf(g, *table, g.graph().outputs()[0]));
}

}  // namespace
}  // namespace partita
