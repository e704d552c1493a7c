// Plans and models on machines that have room for them, and that have not.
// SPDX-License-Identifier: Apache-2.0

#include "partita/plan_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "graph/ops/op_set.h"
#include "graph/text/parser.h"
#include "partita/compile.h"
#include "placement/machine/sample_machines.h"

namespace partita {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kRoom = int64_t{1} << 26;

Module Chain() {
  auto module = ParseModule(R"(
graph @f(%x: f32[64, 64]) -> f32[64, 64] {
  %a = matmul %x, %x : f32[64, 64]
  %b = softmax %a {axis = 1} : f32[64, 64]
  return %b
}
)",
                            "test.graph", OpSet::BuiltIn());
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

CompileOptions OnTwo() {
  CompileOptions options;
  options.pins = {{"a", {"cpu:0"}}, {"b", {"cpu:1"}}};
  return options;
}

Compiled OnTwoCpus() {
  auto compiled = Predict(Chain(), EqualCpus(2, kRoom), OnTwo());
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  return *std::move(compiled);
}

PlanFit Fit(const Plan& plan, const Machine& machine) {
  auto fit = FitPlan(plan, machine);
  EXPECT_TRUE(fit.ok()) << fit.status();
  return *std::move(fit);
}

TEST(FitPlanTest, TheMarginIsWhatTheArenaLeaves) {
  const Compiled compiled = OnTwoCpus();
  const PlanFit fit = Fit(compiled.plan, EqualCpus(3, kRoom));
  EXPECT_TRUE(fit.fits());
  EXPECT_THAT(fit.faults, IsEmpty());
  ASSERT_EQ(fit.devices.size(), 3u);
  for (size_t d = 0; d < 2; ++d) {
    EXPECT_EQ(fit.devices[d].needed, compiled.report.devices[d].arena);
    EXPECT_EQ(fit.devices[d].margin(),
              kRoom - compiled.report.devices[d].arena);
  }
  EXPECT_EQ(fit.devices[2].needed, 0);
  EXPECT_EQ(fit.devices[2].margin_percent(), 100);
}

// To the byte: the reserve counts, one byte less does not fit.
TEST(FitPlanTest, TheLastByteDecides) {
  const Compiled compiled = OnTwoCpus();
  const int64_t arena = compiled.report.devices[0].arena;
  Machine machine = EqualCpus(2, kRoom);
  machine.devices[0].memory = arena + 100;
  machine.devices[0].reserve = 100;
  EXPECT_TRUE(Fit(compiled.plan, machine).fits());
  machine.devices[0].reserve = 101;
  const PlanFit fit = Fit(compiled.plan, machine);
  EXPECT_FALSE(fit.fits());
  EXPECT_EQ(fit.devices[0].margin(), -1);
  EXPECT_LT(fit.devices[0].margin_percent(), 0);
  EXPECT_TRUE(fit.devices[1].fits());
  EXPECT_THAT(fit.faults, IsEmpty());
}

TEST(FitPlanTest, AMissingDeviceOrLinkDoesNotFit) {
  const Compiled compiled = OnTwoCpus();
  const PlanFit small = Fit(compiled.plan, EqualCpus(1, kRoom));
  EXPECT_FALSE(small.fits());
  EXPECT_THAT(small.faults, ElementsAre(HasSubstr("found no device cpu:1")));
  Machine machine = EqualCpus(2, kRoom);
  machine.links.clear();
  const PlanFit apart = Fit(compiled.plan, machine);
  EXPECT_FALSE(apart.fits());
  EXPECT_THAT(apart.faults, ElementsAre(HasSubstr("link")));
}

TEST(FitPlanTest, ADeviceOfAnotherKindDoesNotFit) {
  Machine machine = CpuAndGpus(0, kRoom);
  machine.devices.push_back(SampleDevice("cpu:1", DeviceKind::kCuda, kRoom));
  const PlanFit fit = Fit(OnTwoCpus().plan, machine);
  EXPECT_FALSE(fit.fits());
  EXPECT_THAT(fit.faults, ElementsAre(HasSubstr("of kind cuda")));
}

TEST(FitModelTest, AModelFitsAsItsPlanDoes) {
  const Compiled compiled = OnTwoCpus();
  const auto fit = FitModel(Chain(), EqualCpus(2, kRoom), OnTwo());
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_TRUE(fit->fits());
  for (size_t d = 0; d < 2; ++d) {
    EXPECT_EQ(fit->devices[d].needed, compiled.report.devices[d].arena);
  }
}

TEST(FitModelTest, WhatLacksRoomIsNoErrorAndSaysHowMuch) {
  CompileOptions options;
  options.strategy = "single";
  options.planner.device = "cpu:0";
  Machine machine = EqualCpus(2, kRoom);
  machine.devices[0].memory = 4096;
  const auto fit = FitModel(Chain(), machine, options);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_FALSE(fit->fits());
  EXPECT_FALSE(fit->devices[0].fits());
  EXPECT_LT(fit->devices[0].margin(), -20'000);
  EXPECT_FALSE(fit->devices[1].needed.has_value());
  EXPECT_THAT(fit->faults, ElementsAre(HasSubstr("needed on cpu:0")));
}

TEST(FitModelTest, AWrongOptionIsAnError) {
  CompileOptions options;
  options.pins = {{"q", {"cpu:0"}}};
  EXPECT_EQ(FitModel(Chain(), EqualCpus(2, kRoom), options).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace partita
