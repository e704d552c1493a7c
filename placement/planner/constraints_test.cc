// Tests of the user's constraints.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/constraints.h"

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/op_view.h"
#include "gtest/gtest.h"
#include "placement/cost/cost_model.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/machine.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/constraint_groups.h"
#include "placement/planner/item_constraints.h"
#include "placement/planner/item_draft.h"
#include "placement/planner/plan_sample.h"
#include "placement/planner/planner.h"
#include "placement/planner/random_sample.h"
#include "placement/planner/search_moves.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

constexpr int64_t kLine = 16;  // f32 elements of 64 bytes
constexpr Constraint::Kind kTogether = Constraint::Kind::kTogether;
constexpr Constraint::Kind kApart = Constraint::Kind::kApart;

// Two chains of two nodes: fastest with a device each.
struct TwoChains : SampleGraph {
  TwoChains() {
    const ValueId x = Input("x", kLine);
    const ValueId y = Input("y", kLine);
    a = Work("a", {x}, kLine);
    b = Work("b", {y}, kLine);
    c = Work("c", {a}, kLine);
    d = Work("d", {b}, kLine);
    Return({c, d});
  }
  std::string DevicesOf(const PlacementTable& table, ValueId value) const {
    return absl::StrJoin(table.nodes[node(value).index].placement.devices, ",");
  }
  std::set<std::string> AllDevices(const PlacementTable& table) const {
    std::set<std::string> devices;
    for (ValueId value : {a, b, c, d}) devices.insert(DevicesOf(table, value));
    return devices;
  }

  ValueId a, b, c, d;
};

PlannerOptions With(std::vector<Constraint> constraints) {
  PlannerOptions options;
  options.constraints = std::move(constraints);
  return options;
}

PlacementTable PlanOf(const TwoChains& g, const PlannerOptions& options,
                      int devices = 2) {
  const auto table = PlanBy("search", g, EqualCpus(devices, 10000), options);
  EXPECT_TRUE(table.ok()) << table.status();
  return table.ok() ? *table : PlacementTable();
}

std::string RefusalOf(const std::string& strategy, const TwoChains& g,
                      const PlannerOptions& options) {
  const auto table = PlanBy(strategy, g, EqualCpus(2, 10000), options);
  return std::string(table.status().message());
}

TEST(ConstraintsTest, NodesStayTogether) {
  const TwoChains g;
  const PlacementTable table = PlanOf(g, With({{kTogether, {"a", "d"}}}));
  EXPECT_EQ(g.DevicesOf(table, g.a), g.DevicesOf(table, g.d));
  EXPECT_EQ(g.AllDevices(table).size(), 2u);
}

TEST(ConstraintsTest, NodesStayApart) {
  const TwoChains g;
  const PlacementTable table =
      PlanOf(g, With({{kApart, {"a", "c"}}, {kApart, {"b", "d"}}}));
  EXPECT_NE(g.DevicesOf(table, g.a), g.DevicesOf(table, g.c));
  EXPECT_NE(g.DevicesOf(table, g.b), g.DevicesOf(table, g.d));
}

TEST(ConstraintsTest, FewDevicesCompute) {
  const TwoChains g;
  PlannerOptions options;
  EXPECT_EQ(g.AllDevices(PlanOf(g, options, 3)).size(), 2u);
  options.most_devices = 1;
  EXPECT_EQ(g.AllDevices(PlanOf(g, options, 3)).size(), 1u);
}

TEST(ConstraintsTest, AStrategyThatBreaksOneIsRefused) {
  const TwoChains g;
  EXPECT_EQ(RefusalOf("single", g, With({{kApart, {"a", "d"}}})),
            "apart a,d: found work %a on cpu:0 and work %d on cpu:0; expected "
            "them on different devices; this strategy does not read "
            "constraints: take search or auto");
  EXPECT_EQ(RefusalOf("list", g, With({{kTogether, {"a", "b"}}})),
            "together a,b: found work %a on cpu:0 and work %b on cpu:1; "
            "expected them on the same devices; this strategy does not read "
            "constraints: take search or auto");
  PlannerOptions options;
  options.most_devices = 1;
  EXPECT_EQ(RefusalOf("list", g, options),
            "most-devices 1: found a placement on 2 devices; expected at most "
            "1; this strategy does not read constraints: take search or auto");
}

TEST(ConstraintsTest, ContradictionsAreNamed) {
  const TwoChains g;
  EXPECT_EQ(RefusalOf("search", g,
                      With({{kTogether, {"c", "d"}},
                            {kTogether, {"a", "b"}},
                            {kApart, {"a", "b"}}})),
            "constraints: found together a,b and apart a,b, which no placement "
            "on machine sample meets together; expected constraints that some "
            "placement meets; leave one out");
  EXPECT_EQ(RefusalOf("search", g, With({{kApart, {"a", "b", "c"}}})),
            "constraints: found apart a,b,c, which no placement on machine "
            "sample meets; expected constraints that some placement meets; "
            "leave one out");
}

TEST(ConstraintsTest, AContradictionNamesPins) {
  TwoChains g;
  g.graph().node(g.node(g.a)).placement.devices = {"cpu:0"};
  g.graph().node(g.node(g.b)).placement.devices = {"cpu:1"};
  EXPECT_EQ(RefusalOf("search", g, With({{kTogether, {"a", "b"}}})),
            "constraints: found pin work %a on cpu:0 and pin work %b on cpu:1 "
            "and together a,b, which no placement on machine sample meets "
            "together; expected constraints that some placement meets; leave "
            "one out");
}

// By node name.
std::set<std::string> DevicesOf(const Graph& graph, const PlacementTable& table,
                                const std::string& name) {
  for (const OpView& node : graph.ops()) {
    if (node.num_results() == 0 || node.result(0).name() != name) continue;
    const auto& devices = table.nodes[node.id().index].placement.devices;
    return {devices.begin(), devices.end()};
  }
  ADD_FAILURE() << "no node " << name;
  return {};
}

// The variable, and its reader, are where another function has them.
TEST(ConstraintsTest, AFunctionThatFollowsAnotherKeepsThem) {
  SampleGraph g;
  const ValueId w = g.Variable("w", kLine);
  const ValueId a = g.Work("a", {g.Input("x", kLine), w}, kLine);
  g.Return({g.Work("b", {a}, kLine)});
  g.graph().node(g.node(w)).placement.devices = {"cpu:1"};
  PlannerOptions options = With({{kApart, {"a", "b"}}});
  options.follows_variables = true;
  const auto table = PlanBy("search", g, EqualCpus(2, 10000), options);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(DevicesOf(g.graph(), *table, "a"), std::set<std::string>{"cpu:1"});
  EXPECT_EQ(DevicesOf(g.graph(), *table, "b"), std::set<std::string>{"cpu:0"});
}

void Pin(TwoChains& g, ValueId value, const std::vector<std::string>& devices) {
  g.graph()
      .node(g.node(value))
      .placement.devices.assign(devices.begin(), devices.end());
}

TEST(ConstraintsTest, ANodeFollowsAPinToSeveralDevices) {
  TwoChains g;
  Pin(g, g.a, {"cpu:1", "cpu:2"});
  const PlacementTable table = PlanOf(g, With({{kTogether, {"a", "d"}}}), 3);
  EXPECT_EQ(g.DevicesOf(table, g.d), "cpu:1,cpu:2");
}

TEST(ConstraintsTest, ContradictionsCountEachDeviceOfAPin) {
  TwoChains g;
  Pin(g, g.a, {"cpu:0", "cpu:1"});
  PlannerOptions options;
  options.most_devices = 1;
  EXPECT_EQ(RefusalOf("search", g, options),
            "constraints: found pin work %a on cpu:0,cpu:1 and most-devices 1, "
            "which no placement on machine sample meets together; expected "
            "constraints that some placement meets; leave one out");
  EXPECT_EQ(
      RefusalOf("search", g, With({{kApart, {"a", "d"}}})),
      "constraints: found pin work %a on cpu:0,cpu:1 and apart a,d, which "
      "no placement on machine sample meets together; expected "
      "constraints that some placement meets; leave one out");
  Pin(g, g.b, {"cpu:1"});
  EXPECT_EQ(RefusalOf("search", g, With({{kTogether, {"a", "b"}}})),
            "constraints: found pin work %a on cpu:0,cpu:1 and pin work %b on "
            "cpu:1 and together a,b, which no placement on machine sample "
            "meets together; expected constraints that some placement meets; "
            "leave one out");
}

// Of three groups on two devices, each with nodes that differ in no rule.
TEST(ConstraintsTest, AContradictionOfManyNodesIsNamed) {
  SampleGraph g;
  std::vector<ValueId> outputs;
  for (const char* group : {"p", "q", "r"}) {
    for (int i = 0; i < 40; ++i) {
      const ValueId x = g.Input(absl::StrCat("x", group, i), kLine);
      outputs.push_back(g.Work(absl::StrCat(group, i), {x}, kLine));
    }
  }
  g.Return(outputs);
  const auto table = PlanBy("search", g, EqualCpus(2, 1 << 20),
                            With({{kApart, {"p*", "q*", "r*"}}}));
  EXPECT_EQ(table.status().message(),
            "constraints: found apart p*,q*,r*, which no placement on machine "
            "sample meets; expected constraints that some placement meets; "
            "leave one out");
}

// Items 0 to 3 are a, b, c and d.
TEST(ConstraintsTest, SetsWithACommonNodeMoveAsOne) {
  TwoChains g;
  const PlannerOptions options =
      With({{kTogether, {"a", "b"}}, {kTogether, {"b", "d"}}});
  WriteConstraints(g.graph(), options.constraints);
  const Machine machine = EqualCpus(2, 10000);
  const SampleCatalog catalog;
  const CostModel costs(g.graph(), machine, catalog);
  const Objective objective;
  const auto constraints = Constraints::Resolve({costs, objective, options});
  ASSERT_TRUE(constraints.ok()) << constraints.status();
  const PlanRequest request{costs, objective, options, &*constraints};
  const SearchSpace space(request);
  const ItemConstraints items(space);
  for (int item : {0, 1, 3}) {
    std::set<int> moved;
    for (const auto& [other, place] :
         items.WithPartners({{item, {{MachineDeviceId(1)}}}})) {
      moved.insert(other);
    }
    EXPECT_EQ(moved, (std::set<int>{0, 1, 3})) << item;
  }
  EXPECT_EQ(items.WithPartners({{2, {{MachineDeviceId(1)}}}}).size(), 1u);
}

// The sets of many nodes are listed once for each class and preference.
TEST(ConstraintsTest, EqualNodesThatPreferTheSameDevicesAreOneVariable) {
  SampleGraph g;
  ValueId value = g.Input("x", kLine);
  for (int i = 0; i < 60; ++i) {
    value = g.Work(absl::StrCat("n", i), {value}, kLine);
  }
  g.Return({value});
  const PlannerOptions options = With({{kTogether, {"n1", "n2"}}});
  WriteConstraints(g.graph(), options.constraints);
  const Machine machine = EqualCpus(3, 10000);
  const SampleCatalog catalog;
  const CostModel costs(g.graph(), machine, catalog);
  const Objective objective;
  const PlanRequest request{costs, objective, options};
  const NodeClasses classes(request);
  NodeVariables variables(request, classes);
  int listed = 0;
  int computing = 0;
  for (NodeId node : costs.order()) {
    if (!costs.computes(node)) {
      EXPECT_EQ(classes.of(node), -1);
      continue;
    }
    variables.Add(node, {MachineDeviceId(computing++ % 2)}, [&] {
      ++listed;
      return AllowedSets(request, node, {});
    });
  }
  EXPECT_EQ(computing, 60);
  // n1, n2, and the others on each of two devices.
  EXPECT_EQ(listed, 4);
  EXPECT_EQ(variables.allowed().size(), 4u);
}

// A draft over all devices keeps its places where no constraint breaks.
TEST(ConstraintsTest, ARepairedDraftKeepsWhatItCan) {
  TwoChains g;
  const PlannerOptions options = With({{kApart, {"a", "b"}}});
  WriteConstraints(g.graph(), options.constraints);
  const Machine machine = EqualCpus(3, 10000);
  const SampleCatalog catalog;
  const CostModel costs(g.graph(), machine, catalog);
  const Objective objective;
  const auto constraints = Constraints::Resolve({costs, objective, options});
  ASSERT_TRUE(constraints.ok()) << constraints.status();
  const PlanRequest request{costs, objective, options, &*constraints};
  const SearchSpace space(request);
  const ItemConstraints items(space);
  const ItemPlace two = {{MachineDeviceId(0), MachineDeviceId(1)}};
  const ItemPlace third = {{MachineDeviceId(2)}};
  const auto repaired = items.Repair({two, two, two, two});
  ASSERT_TRUE(repaired.has_value());
  EXPECT_EQ(*repaired, (ItemDraft{two, third, two, two}));
}

TEST(ConstraintsTest, APatternMatchesANode) {
  const TwoChains g;
  const std::vector<Constraint> known = {{kApart, {"a", "?"}}};
  EXPECT_TRUE(CheckConstraintPatterns(TwoChains().module(), known).ok());
  const std::vector<Constraint> unknown = {{kApart, {"a", "nose"}}};
  EXPECT_EQ(
      CheckConstraintPatterns(TwoChains().module(), unknown).message(),
      "apart a,nose: found no node with scope or result name nose; expected "
      "the name of one; `partita compile --stop-after imported` prints the "
      "names");
}

bool IsMet(const Graph& graph, const PlacementTable& table,
           const Constraint& constraint) {
  const auto first = DevicesOf(graph, table, constraint.patterns[0]);
  const auto second = DevicesOf(graph, table, constraint.patterns[1]);
  if (constraint.kind == kTogether) return first == second;
  std::set<std::string> either = first;
  either.insert(second.begin(), second.end());
  return either.size() == first.size() + second.size();
}

TEST(ConstraintsTest, RandomConstraintsAreMetOrContradictory) {
  int met = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const RandomSample g(10, random);
    std::vector<Constraint> constraints;
    for (int i = 0; i < 7; ++i) {
      const int a = static_cast<int>(random() % 9);
      const int b = static_cast<int>(a + 1 + random() % (9 - a));
      constraints.push_back({random() % 2 == 0 ? kTogether : kApart,
                             {absl::StrCat("n", a), absl::StrCat("n", b)}});
    }
    const auto table =
        PlanBy("search", g, EqualCpus(2, 1 << 20), With(constraints));
    if (!table.ok()) {
      EXPECT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument)
          << table.status();
      continue;
    }
    ++met;
    for (const Constraint& constraint : constraints) {
      EXPECT_TRUE(IsMet(g.graph(), *table, constraint))
          << ConstraintText(constraint);
    }
  }
  EXPECT_GT(met, 10);
  EXPECT_LT(met, 40);
}

}  // namespace
}  // namespace partita
