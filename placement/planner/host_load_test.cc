// Tests that estimates and drafts count the host's cores.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/plan_sample.h"
#include "placement/planner/search_problem.h"

namespace partita {
namespace {

constexpr int64_t kRoom = 1 << 20;

Machine CpusOn(MachineHost host) {
  Machine machine = EqualCpus(2, kRoom);
  machine.host = host;
  return machine;
}

// Two chains of two nodes, of a second each: the nodes a and b, then c and d.
struct TwoChains : SampleGraph {
  TwoChains() {
    const ValueId x = Input("x", kLine);
    const ValueId y = Input("y", kLine);
    const ValueId a = Work("a", {x}, kLine);
    const ValueId b = Work("b", {y}, kLine);
    Return({Work("c", {a}, kLine), Work("d", {b}, kLine)});
  }
};

double SecondsOf(const Machine& machine, const ItemDraft& draft) {
  const TwoChains g;
  return SearchProblem(g, machine).Score(draft).seconds;
}

TEST(HostLoadTest, TwoCpusOnOneCoreAreNotFasterThanOne) {
  const ItemDraft both = {kFirst, kSecond, kFirst, kSecond};
  EXPECT_NEAR(SecondsOf(CpusOn({}), both), 2, 1e-6);
  EXPECT_NEAR(SecondsOf(CpusOn({.cores = 4}), both), 2, 1e-6);
  EXPECT_NEAR(SecondsOf(CpusOn({.cores = 1}), both), 4, 1e-6);
}

// c waits for b's device, and d for a's.
TEST(HostLoadTest, ADeviceThatWaitsWakesUp) {
  const ItemDraft crossed = {kFirst, kSecond, kSecond, kFirst};
  const ItemDraft straight = {kFirst, kSecond, kFirst, kSecond};
  const Machine slow = CpusOn({.cores = 2, .wake_seconds = 100});
  EXPECT_GT(SecondsOf(slow, crossed), 100);
  EXPECT_NEAR(SecondsOf(slow, straight), 2, 1e-6);
}

// A chain and a node beside it that joins at its end: worth a second device
// only if that wakes up soon.
TEST(HostLoadTest, ListWeighsTheWakeUp) {
  SampleGraph g;
  const ValueId x = g.Input("x", kLine);
  const ValueId a = g.Work("a", {x}, kLine);
  const ValueId b = g.Work("b", {x}, kLine);
  g.Return({g.Work("c", {a, b}, kLine)});
  for (const double wake : {0.0, 100.0}) {
    const auto table =
        PlanBy("list", g, CpusOn({.cores = 2, .wake_seconds = wake}));
    ASSERT_TRUE(table.ok()) << table.status();
    std::set<std::string> used;
    for (const PlacedNode& node : table->nodes) {
      used.insert(node.placement.devices.begin(), node.placement.devices.end());
    }
    EXPECT_EQ(used.size(), wake > 0 ? 1u : 2u);
  }
}

}  // namespace
}  // namespace partita
