// Tests of the shares of bytes that steps displace.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/cache_reuse.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "placement/cost/testing/sample_graphs.h"
#include "placement/machine/profile.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

// In f32 elements.
constexpr int64_t kCache = 1 << 16;
constexpr int64_t kSmall = kCache / 1024;

Machine WithCache(Machine machine) {
  Profile profile;
  profile.cache_bytes = 4 * kCache;
  machine.profile.measured = std::make_shared<const Profile>(profile);
  return machine;
}

std::optional<double> ShareOf(const SampleGraph& g, ValueId value,
                              const Machine& machine,
                              const std::string& device = "cpu:0") {
  return CacheReuse(g.graph(), machine)
      .DisplacedShare(g.node(value), machine.FindDevice(device)->traits);
}

double ShareOf(const SampleGraph& g, ValueId value) {
  return ShareOf(g, value, WithCache(EqualCpus(1, 1000))).value_or(-1);
}

// Of a weight and small values: how much of a node's bytes that weight is.
double Weighed(int64_t weight) {
  return static_cast<double>(weight) / static_cast<double>(weight + 2 * kSmall);
}

TEST(CacheReuse, ASmallStepStaysInTheCache) {
  SampleGraph g;
  const ValueId x = g.Input("x", kSmall);
  const ValueId y = g.Work("y", {x, g.Weight("w", kSmall)}, kSmall);
  g.Return({y});
  EXPECT_EQ(ShareOf(g, y), 0);
}

TEST(CacheReuse, WeightsOfALargeStepAreDisplaced) {
  SampleGraph g;
  const ValueId x = g.Input("x", kSmall);
  const ValueId a = g.Work("a", {x, g.Weight("w", kCache)}, kSmall);
  const ValueId b = g.Work("b", {a, g.Weight("v", kCache)}, kSmall);
  g.Return({b});
  EXPECT_DOUBLE_EQ(ShareOf(g, a), Weighed(kCache));
  EXPECT_DOUBLE_EQ(ShareOf(g, b), Weighed(kCache));
}

// As in a recurrent network: each step reads the same weight.
TEST(CacheReuse, AWeightThatWasJustReadIsInTheCache) {
  SampleGraph g;
  const ValueId x = g.Input("x", kSmall);
  const ValueId w = g.Weight("w", kCache / 16);
  const ValueId v = g.Weight("v", 4 * kCache);
  const ValueId a = g.Work("a", {x, v}, kSmall);
  const ValueId b = g.Work("b", {a, w}, kSmall);
  const ValueId c = g.Work("c", {b, w}, kSmall);
  g.Return({c});
  EXPECT_DOUBLE_EQ(ShareOf(g, b), Weighed(kCache / 16));
  EXPECT_EQ(ShareOf(g, c), 0);
}

TEST(CacheReuse, BetweenTheTwoTheShareGrowsWithTheDistance) {
  SampleGraph g;
  const ValueId x = g.Input("x", kSmall);
  const ValueId early = g.Work("early", {x}, kSmall);
  const ValueId between =
      g.Work("between", {early, g.Weight("w", kCache / 2)}, kSmall);
  const ValueId late = g.Work("late", {early, between}, kSmall);
  g.Return({late});
  const double distance = kCache / 2 + kSmall;
  const double displaced = (distance - kCache / 8) / (kCache - kCache / 8);
  EXPECT_DOUBLE_EQ(ShareOf(g, late), displaced / 3);
}

TEST(CacheReuse, NodesOnGpusTouchNothingHere) {
  const Machine machine = WithCache(CpuAndGpus(1, 1 << 30));
  SampleGraph g;
  const ValueId x = g.Input("x", kSmall);
  const ValueId a = g.Work("a", {x}, kSmall);
  const ValueId b = g.Work("b", {a, g.Weight("w", 2 * kCache)}, kSmall);
  const ValueId c = g.Work("c", {a, b}, kSmall);
  g.Return({c});
  EXPECT_GT(*ShareOf(g, c, machine), 0);
  for (const auto& [value, device] :
       {std::pair(a, "cpu:0"), {b, "gpu:0"}, {c, "cpu:0"}}) {
    g.graph().node(g.node(value)).placement.devices = {device};
  }
  EXPECT_EQ(ShareOf(g, c, machine), 0);
  EXPECT_EQ(ShareOf(g, b, machine, "gpu:0"), std::nullopt);
}

TEST(CacheReuse, WithoutTheSizeOfTheCacheNothingIsKnown) {
  SampleGraph g;
  const ValueId y = g.Work("y", {g.Input("x", kSmall)}, kSmall);
  g.Return({y});
  EXPECT_EQ(ShareOf(g, y, EqualCpus(1, 1000)), std::nullopt);
}

TEST(SecondsInStep, AreBetweenWarmAndCold) {
  const CacheSeconds both = {.warm = 2, .cold = 6};
  EXPECT_EQ(SecondsInStep(3, std::nullopt, 0.5), 3);
  EXPECT_EQ(SecondsInStep(3, both, std::nullopt), 3);
  EXPECT_EQ(SecondsInStep(3, both, 0), 2);
  EXPECT_EQ(SecondsInStep(3, both, 0.25), 3);
  EXPECT_EQ(SecondsInStep(3, both, 1), 6);
}

}  // namespace
}  // namespace partita
