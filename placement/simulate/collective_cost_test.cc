// Collectives over links whose times are worked out by hand.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/collective_cost.h"

#include <string>
#include <vector>

#include "graph/op_set.h"
#include "graph/text/parser.h"
#include "gtest/gtest.h"
#include "placement/lower/lower_fixture.h"
#include "placement/machine/sample_machines.h"
#include "placement/simulate/simulate.h"

namespace partita {
namespace {

using Kind = CollectiveKind;

// Every pair joined by 1e10 bytes a second.
constexpr double kSecond = 1e10;

double Seconds(Kind kind, double bytes, int members, double latency = 0,
               const std::string& bus = "", bool duplex = true) {
  Machine machine = EqualCpus(members, 1000);
  for (Link& link : machine.links) {
    link.latency = latency;
    link.bus = bus;
    link.duplex = duplex;
  }
  std::vector<std::string> names;
  for (const MachineDevice& device : machine.devices) {
    names.push_back(device.traits.name);
  }
  const auto seconds = CollectiveSeconds(kind, bytes, names, machine);
  EXPECT_TRUE(seconds.ok()) << seconds.status();
  return seconds.value_or(-1);
}

TEST(CollectiveCost, ARingSendsEveryPartPastEveryMember) {
  // Two times three steps of a quarter.
  EXPECT_NEAR(Seconds(Kind::kAllReduce, kSecond, 4), 1.5, 1e-9);
  EXPECT_NEAR(Seconds(Kind::kReduceScatter, kSecond, 4), 0.75, 1e-9);
  // Each member supplies a second's bytes, and takes those of three others.
  EXPECT_NEAR(Seconds(Kind::kAllGather, kSecond, 4), 3, 1e-9);
  EXPECT_NEAR(Seconds(Kind::kAllToAll, kSecond, 4), 0.75, 1e-9);
}

TEST(CollectiveCost, ATreeIsQuickerWhereLatencyIsAll) {
  // A ring of 8 has 14 steps of a second's latency, a tree 6.
  EXPECT_NEAR(Seconds(Kind::kAllReduce, 0, 8, 1), 6, 1e-9);
  EXPECT_NEAR(Seconds(Kind::kReduceScatter, 0, 8, 1), 7, 1e-9);
}

TEST(CollectiveCost, HopsOfOneBusShareIt) {
  EXPECT_NEAR(Seconds(Kind::kReduceScatter, kSecond, 2), 0.5, 1e-9);
  EXPECT_NEAR(Seconds(Kind::kReduceScatter, kSecond, 2, 0, "", false), 1, 1e-9);
  EXPECT_NEAR(Seconds(Kind::kAllGather, kSecond, 4, 0, "pcie", false), 12,
              1e-9);
}

TEST(CollectiveCost, OneMemberHasNothingToExchange) {
  EXPECT_EQ(Seconds(Kind::kAllReduce, kSecond, 1), 0);
}

TEST(CollectiveCost, NeighboursWithoutALinkAreNamed) {
  Machine machine = EqualCpus(2, 1000);
  machine.links.clear();
  EXPECT_EQ(CollectiveSeconds(Kind::kAllReduce, 8, {"cpu:0", "cpu:1"}, machine)
                .status()
                .message(),
            "found a collective over cpu:0 and cpu:1 and no link between them "
            "in machine sample; expected one; simulate on the machine that the "
            "plan is for");
}

// The quicker member waits for the slower one, and both end together.
TEST(CollectiveCost, PartsStartWhenAllHaveCome) {
  const auto module = ParseModule(
      R"(graph @f(%x: f32[4, 3]) -> f32[3] {
  %a = exp %x : f32[4, 3] on gpu:0
  %s = reduce_sum %a {axes = [0], keep_dims = false} : f32[3]
      on {gpu:0, gpu:1} (split 0) -> (partial sum)
  %n = neg %s : f32[3] on {gpu:0, gpu:1}
  return %n
}
)",
      "t", OpSet::BuiltIn());
  ASSERT_TRUE(module.ok()) << module.status();
  const Machine machine = LinkedMachine(2);
  const auto plan = PlanOf(module->Clone(), machine);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::vector<double> node_seconds(plan->module.main().node_id_bound(),
                                         1.0);
  const auto simulation = Simulate(*plan, 0, machine, node_seconds);
  ASSERT_TRUE(simulation.ok()) << simulation.status();
  const auto commands = Expand(plan->entries[0]);
  ASSERT_TRUE(commands.ok());
  std::vector<SimulatedCommand> parts;
  for (size_t i = 0; i < commands->size(); ++i) {
    if ((*commands)[i].kind != Command::Kind::kCollective) continue;
    parts.push_back(simulation->commands[i]);
  }
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].start, parts[1].start);
  EXPECT_EQ(parts[0].end, parts[1].end);
  // exp, a transfer, and the sum of the slower member.
  EXPECT_GE(parts[0].start, 2);
  EXPECT_GT(parts[0].end, parts[0].start);
}

}  // namespace
}  // namespace partita
