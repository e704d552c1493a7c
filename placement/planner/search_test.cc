// Tests of the search, its estimate and its moves.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/draft_timer.h"
#include "placement/planner/flow.h"
#include "placement/planner/plan_sample.h"
#include "placement/planner/planner.h"
#include "placement/planner/search_moves.h"

namespace partita {
namespace {

constexpr int64_t kLine = 16;  // f32 elements of 64 bytes
const ItemDevices kFirst = {MachineDeviceId(0)};
const ItemDevices kSecond = {MachineDeviceId(1)};
const ItemDevices kBoth = {MachineDeviceId(0), MachineDeviceId(1)};

// What asks about a graph, which must outlive it. Every node takes a second
// everywhere.
class Problem {
 public:
  Problem(const SampleGraph& g, Machine machine)
      : machine_(std::move(machine)),
        costs_(g.graph(), machine_, catalog_),
        flow_(costs_),
        request_{costs_, objective_, options_} {
    for (const MachineDevice& device : machine_.devices) {
      objective_.memory_limits.push_back(device.usable());
    }
  }

  DraftScore Score(const WholeDraft& draft) {
    return DraftTimer(request_, flow_).Score(draft);
  }
  std::vector<Move> Moves(const WholeDraft& draft, size_t most = 1000) {
    return SearchMoves(request_, flow_).Of(draft, most);
  }

 private:
  const Machine machine_;
  const SampleCatalog catalog_;
  const CostModel costs_;
  const Flow flow_;
  Objective objective_;
  const PlannerOptions options_;
  const PlanRequest request_;
};

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

TEST(DraftTimerTest, ADeviceComputesOneNodeAtATime) {
  const TwoChains g;
  Problem problem(g, EqualCpus(2, 10000));
  EXPECT_NEAR(problem.Score({kFirst, kFirst, kFirst, kFirst}).seconds, 4, 0.01);
  EXPECT_NEAR(problem.Score({kFirst, kSecond, kFirst, kSecond}).seconds, 2,
              0.01);
}

TEST(DraftTimerTest, ACopyTakesItsLink) {
  Machine machine = EqualCpus(2, 10000);
  machine.links[0].latency = 5;
  const Line g(2);
  Problem problem(g, machine);
  EXPECT_NEAR(problem.Score({kFirst, kFirst}).seconds, 2, 0.01);
  EXPECT_NEAR(problem.Score({kFirst, kSecond}).seconds, 7, 0.01);
  // The second device computes n0 itself.
  EXPECT_NEAR(problem.Score({kBoth, kSecond}).seconds, 2, 0.01);
}

TEST(DraftTimerTest, WhatHasNoLinkIsWorseThanWhatLacksMemory) {
  Machine machine = EqualCpus(2, 1);
  machine.links.clear();
  const Line g(2);
  Problem problem(g, machine);
  const DraftScore alone = problem.Score({kFirst, kFirst});
  const DraftScore apart = problem.Score({kFirst, kSecond});
  EXPECT_GT(alone.missing, 0);
  EXPECT_LT(alone, apart);
}

// Two values of 64 bytes live at a time: what a node reads and what it makes.
TEST(DraftTimerTest, ValuesTakeMemoryUntilTheirLastReader) {
  for (int length : {2, 20}) {
    const Line g(length);
    Problem problem(g, EqualCpus(2, 2 * 64));
    EXPECT_EQ(problem.Score(WholeDraft(length, kFirst)).missing, 0);
    Problem small(g, EqualCpus(2, 64));
    EXPECT_EQ(small.Score(WholeDraft(length, kFirst)).missing, 64);
  }
}

TEST(SearchMovesTest, EveryMoveChangesSomething) {
  const TwoChains g;
  Problem problem(g, EqualCpus(2, 10000));
  const WholeDraft draft = {kFirst, kFirst, kFirst, kSecond};
  const std::vector<Move> moves = problem.Moves(draft);
  EXPECT_FALSE(moves.empty());
  for (const Move& move : moves) {
    ASSERT_FALSE(move.empty());
    for (const auto& [item, devices] : move) EXPECT_NE(draft[item], devices);
  }
  EXPECT_EQ(problem.Moves(draft, 3).size(), 3u);
}

// n1, and n1 with n2, go to the first device; n0 goes to the second.
TEST(SearchMovesTest, BordersMove) {
  const Line g(3);
  Problem problem(g, EqualCpus(2, 10000));
  const std::vector<Move> moves = problem.Moves({kFirst, kSecond, kSecond});
  for (const Move& border : {Move{{1, kFirst}}, Move{{0, kSecond}},
                             Move{{1, kFirst}, {2, kFirst}}}) {
    EXPECT_TRUE(absl::c_linear_search(moves, border));
  }
}

TEST(SearchMovesTest, AnItemIsReplicatedWhereItIsRead) {
  const Line g(2);
  Problem problem(g, EqualCpus(2, 10000));
  EXPECT_TRUE(absl::c_linear_search(problem.Moves({kFirst, kSecond}),
                                    Move{{0, kBoth}}));
}

// n1 goes to the second device, and n0 is made there too.
TEST(SearchMovesTest, AnItemTakesItsMakersAlong) {
  const Line g(2);
  Problem problem(g, EqualCpus(2, 10000));
  EXPECT_TRUE(absl::c_linear_search(problem.Moves({kFirst, kFirst}),
                                    Move{{1, kSecond}, {0, kBoth}}));
}

// The devices of the node that makes the value.
std::string DevicesOf(const SampleGraph& g, const PlacementTable& table,
                      ValueId value) {
  const NodeId node = g.node(value);
  return absl::StrJoin(table.nodes[node.index].placement.devices, ",");
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
