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
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/constraint_groups.h"
#include "placement/planner/plan_sample.h"
#include "placement/planner/planner.h"
#include "placement/planner/random_sample.h"
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
