// The rounds in which a strategy places a module that is short of memory.
// SPDX-License-Identifier: Apache-2.0

#include "partita/compilation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "graph/builder/examples/models.h"
#include "graph/status_macros.h"
#include "placement/lower/refusal.h"
#include "placement/machine/sample_machines.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

// Strategies that are not in the table.
Planner PlannerOf(StrategyFn& draft, bool reads_memory_limits = true) {
  return {.name = "sample",
          .doc = "",
          .draft = draft,
          .follow = draft,
          .reads_memory_limits = reads_memory_limits};
}

// The refusal of a small convolution network on a device of a given size, and
// how often the strategy was asked.
struct Outcome {
  absl::Status refusal;
  int rounds = 0;
};
Outcome OutcomeOf(const Planner& planner, int64_t memory) {
  const Machine machine = EqualCpus(1, memory);
  Outcome outcome;
  CompileOptions options;
  options.progress = [&](absl::string_view stage) {
    outcome.rounds += stage == "place";
  };
  Compilation compilation(*SmallConvNet(), machine, options);
  outcome.refusal = compilation.Optimise();
  if (!outcome.refusal.ok()) return outcome;
  outcome.refusal = compilation.Try(planner).status();
  return outcome;
}

int64_t NeededBytes() {
  const auto shortage =
      ShortageOf(OutcomeOf(PlannerOf(DraftSingle), 4096).refusal);
  return shortage.has_value() ? shortage->needed : 0;
}

// `single` with all memory; within less it finds no placement.
absl::StatusOr<Draft> DraftInAllMemory(const PlanRequest& request) {
  const int64_t all = request.costs.machine().devices[0].usable();
  if (request.objective.memory_limits[0] < all) {
    return absl::FailedPreconditionError("no placement in so little memory");
  }
  return DraftSingle(request);
}

TEST(CompilationTest, AnErrorOfALaterRoundDoesNotHideTheShortage) {
  const int64_t memory = NeededBytes() - 1;
  const absl::Status refusal =
      OutcomeOf(PlannerOf(DraftInAllMemory), memory).refusal;
  const std::optional<MemoryShortage> shortage = ShortageOf(refusal);
  ASSERT_TRUE(shortage.has_value()) << refusal;
  EXPECT_EQ(shortage->missing(), 1);
}

// Asks about each device, then takes the first.
absl::StatusOr<Draft> DraftOnFirst(const PlanRequest& request) {
  PlannerOptions options = request.options;
  std::optional<Draft> first;
  for (const char* device : {"cpu:0", "cpu:1"}) {
    options.device = device;
    PARTITA_ASSIGN_OR_RETURN(
        Draft draft, DraftSingle({request.costs, request.objective, options}));
    if (!first.has_value()) first = std::move(draft);
  }
  return *std::move(first);
}

// The draft on cpu:1 is counted last and fits too.
TEST(CompilationTest, TheStrategysChoiceIsPlacedWhicheverDraftIsKept) {
  const Machine machine = EqualCpus(2, 1 << 26);
  const CompileOptions options;
  Compilation compilation(*SmallConvNet(), machine, options);
  ASSERT_EQ(compilation.Optimise(), absl::OkStatus());
  const auto attempt = compilation.Try(PlannerOf(DraftOnFirst));
  ASSERT_TRUE(attempt.ok()) << attempt.status();
  ASSERT_EQ(attempt->plan.devices.size(), 1u);
  EXPECT_EQ(attempt->plan.devices[0].traits.name, "cpu:0");
}

TEST(CompilationTest, AStrategyThatReadsNoLimitsIsAskedOnce) {
  const Outcome asked = OutcomeOf(PlannerOf(DraftSingle, false), 4096);
  EXPECT_EQ(asked.rounds, 1);
  const Outcome asked_again = OutcomeOf(PlannerOf(DraftSingle, true), 4096);
  EXPECT_GT(asked_again.rounds, 1);
  EXPECT_TRUE(ShortageOf(asked.refusal).has_value()) << asked.refusal;
  EXPECT_EQ(asked.refusal, asked_again.refusal);
}

}  // namespace
}  // namespace partita
