// Checks times of collectives against hand calculations.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/collective_cost.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

using Kind = CollectiveKind;

// Every pair has a link of 1e10 bytes a second.
constexpr double kSecond = 1e10;

std::vector<std::string> Names(const Machine& machine) {
  std::vector<std::string> names;
  for (const MachineDevice& device : machine.devices) {
    names.push_back(device.traits.name);
  }
  return names;
}

double Seconds(Kind kind, double bytes, int ranks, double latency = 0,
               const std::string& bus = "", bool duplex = true) {
  Machine machine = EqualCpus(ranks, 1000);
  for (Link& link : machine.links) {
    link.latency = latency;
    link.bus = bus;
    link.duplex = duplex;
  }
  const auto seconds = CollectiveSeconds(kind, bytes, Names(machine), machine);
  EXPECT_TRUE(seconds.ok()) << seconds.status();
  return seconds.value_or(-1);
}

double Broadcast(double bytes, int ranks, double latency = 0) {
  Machine machine = EqualCpus(ranks, 1000);
  for (Link& link : machine.links) link.latency = latency;
  return BroadcastSeconds(bytes, Names(machine), machine).value_or(-1);
}

TEST(CollectiveCost, ARingSendsEveryShardPastEveryRank) {
  // Two times three steps of a quarter.
  EXPECT_NEAR(Seconds(Kind::kAllReduce, kSecond, 4), 1.5, 1e-9);
  EXPECT_NEAR(Seconds(Kind::kReduceScatter, kSecond, 4), 0.75, 1e-9);
  // Each rank supplies bytes of one second, and receives those of three others.
  EXPECT_NEAR(Seconds(Kind::kAllGather, kSecond, 4), 3, 1e-9);
  EXPECT_NEAR(Seconds(Kind::kAllToAll, kSecond, 4), 0.75, 1e-9);
}

TEST(CollectiveCost, ATreeIsFasterIfLatencyDominates) {
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

// A tree's second level has two transfers at once, its third four.
TEST(CollectiveCost, TransfersOfATreeShareTheirBusToo) {
  // The ring: six steps of a quarter, three hops one way. The tree: 1 and 2
  // seconds up, and down again.
  EXPECT_NEAR(Seconds(Kind::kAllReduce, kSecond, 4, 0, "pcie"), 4.5, 1e-9);
  EXPECT_NEAR(Seconds(Kind::kAllReduce, kSecond, 3, 0, "pcie"), 8.0 / 3, 1e-9);
  // The ring: 14 steps of a second's latency and one for eight hops. The tree:
  // three seconds' latency, and 1, 2 and 4 seconds, up and down.
  EXPECT_NEAR(Seconds(Kind::kAllReduce, kSecond, 8, 1, "pcie", false), 20,
              1e-9);
  // Over links of their own, six steps of two seconds.
  EXPECT_NEAR(Seconds(Kind::kAllReduce, kSecond, 8, 1), 12, 1e-9);
}

// The tree needs no link from the third to the fourth, the ring none across.
TEST(CollectiveCost, ATreeNeedsOnlyTheLinksOfItsPairs) {
  Machine machine = EqualCpus(4, 1000);
  for (Link& link : machine.links) link.latency = 1;
  const auto join = [&](const std::string& from, const std::string& to) {
    return std::find_if(
        machine.links.begin(), machine.links.end(),
        [&](const Link& l) { return l.from == from && l.to == to; });
  };
  join("cpu:2", "cpu:3")->latency = 10;
  EXPECT_NEAR(*CollectiveSeconds(Kind::kAllReduce, 0, Names(machine), machine),
              4, 1e-9);
  machine.links.erase(join("cpu:1", "cpu:3"));
  EXPECT_NEAR(*CollectiveSeconds(Kind::kAllReduce, 0, Names(machine), machine),
              60, 1e-9);
}

// Links with copies of 1e10 bytes a second, gathers of 5e9 and reductions of
// 2.5e9, which start after one and two seconds.
Machine MeasuredCpus(int count) {
  Machine machine = EqualCpus(count, 1000);
  for (Link& link : machine.links) {
    link.collectives = {
        .gather = CollectiveFigures{.bandwidth = 5e9, .latency = 1},
        .reduce = CollectiveFigures{.bandwidth = 2.5e9, .latency = 2}};
  }
  return machine;
}

TEST(CollectiveCost, MeasuredFiguresReplaceThoseOfCopies) {
  const auto seconds = [](Kind kind, int ranks) {
    const Machine machine = MeasuredCpus(ranks);
    return CollectiveSeconds(kind, kSecond, Names(machine), machine)
        .value_or(-1);
  };
  // One latency, whatever the number of ranks, and the bytes of the ring.
  EXPECT_NEAR(seconds(Kind::kAllGather, 2), 1 + 2, 1e-9);
  EXPECT_NEAR(seconds(Kind::kAllGather, 4), 1 + 3 * 2, 1e-9);
  EXPECT_NEAR(seconds(Kind::kAllToAll, 2), 1 + 0.5 * 2, 1e-9);
  EXPECT_NEAR(seconds(Kind::kAllReduce, 2), 2 + 4, 1e-9);
  EXPECT_NEAR(seconds(Kind::kAllReduce, 4), 2 + 1.5 * 4, 1e-9);
  EXPECT_NEAR(seconds(Kind::kReduceScatter, 2), 2 + 0.5 * 4, 1e-9);
  EXPECT_EQ(seconds(Kind::kAllReduce, 1), 0);
}

TEST(CollectiveCost, TheSlowestLinkOfTheRingDecides) {
  Machine machine = MeasuredCpus(3);
  machine.links[1].collectives.gather = {.bandwidth = 1e9, .latency = 0.5};
  EXPECT_NEAR(
      *CollectiveSeconds(Kind::kAllGather, kSecond, Names(machine), machine),
      1 + 2 * 10, 1e-9);
}

TEST(CollectiveCost, ARingWithALinkThatWasNotMeasuredIsPricedByCopies) {
  Machine machine = MeasuredCpus(3);
  machine.links[1].collectives.gather.reset();
  EXPECT_NEAR(
      *CollectiveSeconds(Kind::kAllGather, kSecond, Names(machine), machine), 2,
      1e-9);
  // The other kind was measured everywhere.
  EXPECT_NEAR(
      *CollectiveSeconds(Kind::kAllReduce, kSecond, Names(machine), machine),
      2 + 4.0 / 3 * 4, 1e-9);
}

TEST(CollectiveCost, TransfersKeepTheFiguresOfCopies) {
  const Machine machine = MeasuredCpus(2);
  EXPECT_NEAR(*CollectiveTransferSeconds(Kind::kAllGather, kSecond,
                                         Names(machine), machine),
              1, 1e-9);
  EXPECT_NEAR(*TransferSeconds(kSecond, {{"cpu:0", "cpu:1"}}, machine), 1,
              1e-9);
  EXPECT_NEAR(*BroadcastSeconds(kSecond, Names(machine), machine), 1, 1e-9);
}

TEST(CollectiveCost, OneRankTakesNoTime) {
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

TEST(CollectiveCost, AChainPassesChunksOn) {
  // 1024 chunks over three hops: 1026 steps.
  EXPECT_NEAR(Broadcast(kSecond, 4), 1026.0 / 1024, 1e-9);
  EXPECT_NEAR(Broadcast(kSecond, 2), 1, 1e-9);
  // With a millisecond's latency 32 chunks are best.
  EXPECT_NEAR(Broadcast(kSecond, 4, 1e-3), 34 * (1e-3 + 1.0 / 32), 1e-9);
}

TEST(CollectiveCost, ATreeBroadcastsSmallValues) {
  EXPECT_NEAR(Broadcast(0, 8, 1), 3, 1e-9);
  EXPECT_NEAR(Broadcast(0, 5, 1), 3, 1e-9);
}

TEST(CollectiveCost, ABroadcastCrossesASlowLinkOnce) {
  Machine machine = EqualCpus(4, 1000);
  for (Link& link : machine.links) {
    // cpu:0 is far from the others.
    if (link.from != "cpu:0" && link.to != "cpu:0") continue;
    link.bus = "far";
    link.bandwidth /= 10;
  }
  const std::vector<Route> copies = {
      {"cpu:0", "cpu:1"}, {"cpu:0", "cpu:2"}, {"cpu:0", "cpu:3"}};
  EXPECT_NEAR(*TransferSeconds(kSecond, copies, machine), 30, 1e-9);
  EXPECT_NEAR(*BroadcastSeconds(kSecond, Names(machine), machine),
              10 * 1026.0 / 1024, 1e-9);
}

TEST(CollectiveCost, TransfersBothWaysNeedDuplexLinks) {
  Machine machine = EqualCpus(2, 1000);
  const std::vector<Route> swap = {{"cpu:0", "cpu:1"}, {"cpu:1", "cpu:0"}};
  EXPECT_NEAR(*TransferSeconds(kSecond, swap, machine), 1, 1e-9);
  for (Link& link : machine.links) link.duplex = false;
  EXPECT_NEAR(*TransferSeconds(kSecond, swap, machine), 2, 1e-9);
}

// The tree needs no link from the second to the third.
TEST(CollectiveCost, AMissingLinkRulesOutOnlyOneAlgorithm) {
  Machine machine = EqualCpus(3, 1000);
  std::erase_if(machine.links, [](const Link& link) {
    return (link.from == "cpu:1" && link.to == "cpu:2") ||
           (link.from == "cpu:2" && link.to == "cpu:1");
  });
  EXPECT_NEAR(*BroadcastSeconds(kSecond, Names(machine), machine), 2, 1e-9);
  machine.links.clear();
  EXPECT_EQ(BroadcastSeconds(8, Names(machine), machine).status().message(),
            "found a collective over cpu:0 and cpu:1 and no link between them "
            "in machine sample; expected one; simulate on the machine that the "
            "plan is for");
}

}  // namespace
}  // namespace partita
