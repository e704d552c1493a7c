// Tests of the strategies that more micro-batches may make the best.
// SPDX-License-Identifier: Apache-2.0

#include "partita/gaining_strategies.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "placement/planner/planner.h"

namespace partita {
namespace {

constexpr double kMostSeconds = 5;  // what a better step may take

GainingStrategies AllFor(const ObjectiveChoice& objective) {
  std::vector<Planner> planners;
  for (const Planner& planner : Planners()) {
    if (!planner.needs_pins) planners.push_back(planner);
  }
  return GainingStrategies(planners, objective);
}

std::string Names(const GainingStrategies& gaining) {
  return absl::StrJoin(
      gaining.planners(), " ",
      [](std::string* text, const Planner& planner) { *text += planner.name; });
}

// Steps that overlap take a quarter.
Candidate Step(const char* strategy, double seconds, double busiest) {
  return {.strategy = strategy,
          .step_seconds = seconds / 4,
          .latency_seconds = seconds,
          .busiest_seconds = busiest};
}

TEST(GainingStrategiesTest, WhatComputesForLongerThanTheBestStepIsDropped) {
  GainingStrategies gaining = AllFor({Goal::kLatency});
  gaining.Narrow({Step("single", 6, 5.9), Step("data", 9, 4),
                  Step("pipeline", 8, 4.9), Step("list", 6, 5)},
                 kMostSeconds);
  EXPECT_EQ(Names(gaining), "data pipeline search");
}

TEST(GainingStrategiesTest, WhatIsNoFasterWithMoreMicroBatchesIsDropped) {
  GainingStrategies gaining = AllFor({Goal::kLatency});
  gaining.Narrow({Step("data", 9, 4), Step("pipeline", 8, 4)}, kMostSeconds);
  EXPECT_EQ(Names(gaining), "single data pipeline list search");
  gaining.Narrow({Step("data", 9, 4), Step("pipeline", 7, 4)}, kMostSeconds);
  EXPECT_EQ(Names(gaining), "single pipeline list search");
  gaining.Narrow({Step("pipeline", 7.5, 4)}, kMostSeconds);
  EXPECT_EQ(Names(gaining), "single list search");
}

TEST(GainingStrategiesTest, TheObjectiveSaysWhichSecondsCount) {
  GainingStrategies gaining = AllFor({Goal::kThroughput});
  gaining.Narrow({Step("pipeline", 8, 1)}, kMostSeconds);
  Candidate next = Step("pipeline", 8, 1);
  next.step_seconds = 1.9;  // the latency is the same
  gaining.Narrow({next}, kMostSeconds);
  EXPECT_EQ(Names(gaining), "single data pipeline list search");
}

// Smaller micro-batches may fit.
TEST(GainingStrategiesTest, WhatWasRefusedStays) {
  GainingStrategies gaining = AllFor({Goal::kLatency});
  const Candidate refused = {.strategy = "data", .refusal = "too large"};
  gaining.Narrow({refused}, kMostSeconds);
  gaining.Narrow({refused}, kMostSeconds);
  EXPECT_EQ(Names(gaining), "single data pipeline list search");
  gaining.Narrow({Step("data", 9, 4)}, kMostSeconds);
  gaining.Narrow({Step("data", 9, 4)}, kMostSeconds);
  EXPECT_EQ(Names(gaining), "single pipeline list search");
}

TEST(GainingStrategiesTest, EveryStrategyMaySaveMemory) {
  GainingStrategies gaining = AllFor({Goal::kMemory});
  gaining.Narrow({Step("single", 6, 6)}, kMostSeconds);
  gaining.Narrow({Step("single", 7, 7)}, kMostSeconds);
  EXPECT_EQ(Names(gaining), "single data pipeline list search");
}

}  // namespace
}  // namespace partita
