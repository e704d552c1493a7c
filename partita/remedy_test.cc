// The remedies of refusals for memory, and that they work.
// SPDX-License-Identifier: Apache-2.0

#include "partita/remedy.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/builder/examples/models.h"
#include "placement/lower/refusal.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

constexpr int64_t kRoomForHalf = 30 << 10;

Module SmallPerceptron() {
  return *TwoLayerPerceptron({.batch = 8, .inputs = 96, .hidden = 64});
}

absl::Status Refusal(const CompileOptions& options, const Machine& machine) {
  const auto compiled = Compile(SmallPerceptron(), machine, options);
  EXPECT_FALSE(compiled.ok());
  return compiled.status();
}

TEST(Remedy, WithPinsEachFactIsReportedOnce) {
  CompileOptions options;
  options.pins = {{"*", {"cpu:0"}}};
  const Machine machine = EqualCpus(2, kRoomForHalf);
  const absl::Status refusal = Refusal(options, machine);
  const std::string text(refusal.message());
  const std::vector<std::string> found = absl::StrSplit(text, " KiB needed");
  EXPECT_EQ(found.size(), 2u) << text;
  EXPECT_TRUE(absl::StrContains(text, " without the pins (predicted ")) << text;
  const auto remedy = RemedyOf(refusal);
  ASSERT_TRUE(remedy.has_value());
  EXPECT_TRUE(remedy->without_pins);
  EXPECT_TRUE(Compile(SmallPerceptron(), machine,
                      {.strategy = remedy->strategy, .depth = remedy->depth})
                  .ok());
}

TEST(Remedy, StrategiesThatLackDifferentThingsAreReportedSeparately) {
  const std::string text(
      Refusal({.depth = 4}, EqualCpus(2, 6 << 10)).message());
  EXPECT_TRUE(absl::StartsWith(
      text, "found no strategy whose plan fits this machine:\n  single: "))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "\n  try a machine with at least "))
      << text;
}

TEST(Remedy, StepsThatDoNotOverlapTakeLess) {
  CompileOptions options;
  options.strategy = "single";
  options.depth = 16;
  const absl::Status refusal = Refusal(options, EqualCpus(1, 64 << 10));
  EXPECT_TRUE(absl::StrContains(refusal.message(),
                                "; try strategy single at depth 1 (predicted "))
      << refusal.message();
  const auto remedy = RemedyOf(refusal);
  ASSERT_TRUE(remedy.has_value());
  EXPECT_EQ(remedy->depth, 1);
  EXPECT_FALSE(remedy->without_pins);
}

// The number of micro-batches depends on the layouts of the processor's
// kernels: the suggested number suffices, and half of it does not.
TEST(Remedy, ATrainingInMicroBatchesTakesLess) {
  const Module step = *MnistTraining({.batch = 32});
  const Machine machine = EqualCpus(1, 1200 << 10);
  CompileOptions options;
  options.strategy = "single";
  const absl::Status refusal = Compile(step.Clone(), machine, options).status();
  const auto remedy = RemedyOf(refusal);
  ASSERT_TRUE(remedy.has_value()) << refusal;
  EXPECT_GT(remedy->micro_batches, 1);
  EXPECT_TRUE(absl::StrContains(
      refusal.message(),
      absl::StrCat("; try strategy single in ", remedy->micro_batches,
                   " micro-batches (")))
      << refusal.message();
  options.micro_batches = remedy->micro_batches;
  EXPECT_TRUE(Compile(step.Clone(), machine, options).ok());
  *options.micro_batches /= 2;
  EXPECT_FALSE(Compile(step.Clone(), machine, options).ok());
}

// Compiles with exactly such a remedy, which must fit.
void ExpectHolds(const Module& step, const Machine& machine,
                 const Remedy& remedy) {
  const auto compiled = Compile(step.Clone(), machine,
                                {.strategy = remedy.strategy,
                                 .depth = remedy.depth,
                                 .micro_batches = remedy.micro_batches});
  EXPECT_TRUE(compiled.ok()) << compiled.status();
}

// The second device has the memory and is slow.
TEST(Remedy, TheFasterOfTwoRemediesIsNamed) {
  const Module step = *MnistTraining({.batch = 32});
  Machine machine = EqualCpus(2, 1200 << 10);
  MachineDevice& slow = machine.devices[1];
  slow.memory = int64_t{1} << 30;
  slow.traits.memory_bandwidth /= 1000;
  for (double& flops : slow.traits.peak_flops) flops /= 1000;
  CompileOptions options;
  options.strategy = "single";
  const auto moved = Predict(step.Clone(), machine, options);
  ASSERT_TRUE(moved.ok()) << moved.status();
  options.planner.device = "cpu:0";
  const auto remedy =
      RemedyOf(Predict(step.Clone(), machine, options).status());
  ASSERT_TRUE(remedy.has_value());
  EXPECT_GT(remedy->micro_batches, 1);
  EXPECT_LT(remedy->step_seconds, moved->report.entries[0].step_seconds);
}

TEST(Remedy, MicroBatchesNeedNotBeHalves) {
  const Module step = *MnistTraining({.batch = 25});
  const Machine machine = EqualCpus(1, 1000 << 10);
  const auto remedy = RemedyOf(Compile(step.Clone(), machine, {}).status());
  ASSERT_TRUE(remedy.has_value());
  EXPECT_EQ(remedy->micro_batches, 5);
  ExpectHolds(step, machine, *remedy);
}

TEST(Remedy, MicroBatchesMayRequireDroppingPins) {
  const Module step = *MnistTraining({.batch = 40});
  const Machine machine = EqualCpus(2, 350 << 10);
  const CompileOptions options = {.pins = {{"*", {"cpu:0"}}}};
  const auto remedy =
      RemedyOf(Compile(step.Clone(), machine, options).status());
  ASSERT_TRUE(remedy.has_value());
  EXPECT_TRUE(remedy->without_pins);
  EXPECT_GT(remedy->micro_batches, 1);
  ExpectHolds(step, machine, *remedy);
}

TEST(Remedy, AScheduleIsNotKept) {
  const Module step = *MnistTraining({.batch = 32});
  const Machine machine = EqualCpus(2, 1200 << 10);
  const CompileOptions options = {.strategy = "pipeline",
                                  .micro_batches = 2,
                                  .schedule = PipelineSchedule::kGPipe};
  const auto remedy =
      RemedyOf(Compile(step.Clone(), machine, options).status());
  ASSERT_TRUE(remedy.has_value());
  ExpectHolds(step, machine, *remedy);
}

// The first weights alone are larger than a device: they must be split.
TEST(Remedy, ASearchForLittleMemoryIsNamedWhereNothingElseFits) {
  const Module model =
      *TwoLayerPerceptron({.batch = 8, .inputs = 192, .hidden = 64});
  const Machine machine = EqualCpus(2, 40 << 10);
  const absl::Status refusal =
      Predict(model.Clone(), machine, {.strategy = "list"}).status();
  EXPECT_TRUE(absl::StrContains(
      refusal.message(),
      "; try strategy search with objective memory (predicted "))
      << refusal;
  const auto remedy = RemedyOf(refusal);
  ASSERT_TRUE(remedy.has_value()) << refusal;
  EXPECT_TRUE(remedy->least_memory);
  CompileOptions options;
  options.strategy = remedy->strategy;
  options.planner.objective = ObjectiveChoice{Goal::kMemory};
  const auto compiled = Predict(model.Clone(), machine, options);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
}

TEST(Remedy, WhereOnlyMemoryHelpsNothingElseIsNamed) {
  const absl::Status refusal =
      Refusal({.strategy = "list"}, EqualCpus(1, 6 << 10));
  EXPECT_FALSE(RemedyOf(refusal).has_value());
  EXPECT_TRUE(
      absl::StrContains(refusal.message(), "; try a machine with at least "))
      << refusal.message();
}

TEST(Remedy, WhatFitsIsFoundByAnyStrategy) {
  const CompileOptions options = {.strategy = "single", .depth = 4};
  const auto fit =
      FindFit(SmallPerceptron(), EqualCpus(2, kRoomForHalf), options);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_TRUE(Compile(SmallPerceptron(), EqualCpus(2, kRoomForHalf),
                      {.strategy = fit->strategy, .depth = fit->depth})
                  .ok());
  EXPECT_EQ(FindFit(SmallPerceptron(), EqualCpus(2, 6 << 10), options)
                .status()
                .code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(Remedy, NoneIsLookedForIfNoneIsAskedFor) {
  CompileOptions options;
  options.strategy = "single";
  options.depth = 16;
  options.remedies = false;
  const absl::Status refusal = Refusal(options, EqualCpus(1, 64 << 10));
  EXPECT_FALSE(RemedyOf(refusal).has_value());
  EXPECT_FALSE(absl::StrContains(refusal.message(), "try ")) << refusal;
  EXPECT_TRUE(ShortageOf(refusal).has_value());
}

// Other refusals have no remedy of this kind.
TEST(Remedy, ARequestThatIsWrongStaysAsItIs) {
  const absl::Status wrong = absl::InvalidArgumentError("wrong");
  EXPECT_EQ(WithRemedies(wrong, SmallPerceptron(), EqualCpus(1, 1), {}), wrong);
  EXPECT_FALSE(RemedyOf(wrong).has_value());
}

}  // namespace
}  // namespace partita
