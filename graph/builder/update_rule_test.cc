// Tests the rates of schedules by name, and the parts of a step's update rule.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/update_rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/dropout.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/builder/schedules.h"
#include "graph/evaluate.h"
#include "graph/fingerprint.h"

namespace partita {
namespace {

double RateAt(uint64_t step, const ScheduleOptions& options) {
  GraphBuilder b("rate");
  HostTensor count({DType::kU64, {}, {}});
  count.data<uint64_t>()[0] = step;
  const auto rate = LearningRate(b, b.Constant(std::move(count)), options);
  EXPECT_TRUE(rate.ok()) << rate.status();
  b.Output("rate", *rate);
  const auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  const auto values = Evaluate(module->main(), {});
  EXPECT_TRUE(values.ok()) << values.status();
  return GetAsDouble((*values)[0], 0);
}

TEST(ChosenSchedule, RatesFollowTheNamedSchedule) {
  EXPECT_EQ(RateAt(999, {.learning_rate = 0.3}), 0.3);

  const ScheduleOptions step = {"step", 8, /*factor=*/0.5, /*steps=*/10};
  EXPECT_EQ(RateAt(9, step), 8);
  EXPECT_EQ(RateAt(10, step), 4);
  EXPECT_EQ(RateAt(35, step), 1);

  const ScheduleOptions exponential = {"exponential", 8, /*factor=*/0.5};
  EXPECT_EQ(RateAt(0, exponential), 8);
  EXPECT_EQ(RateAt(3, exponential), 1);

  // The factor is the final rate relative to the initial one.
  const ScheduleOptions cosine = {"cosine", 8, /*factor=*/0.25, /*steps=*/100};
  EXPECT_EQ(RateAt(0, cosine), 8);
  EXPECT_NEAR(RateAt(50, cosine), 5, 1e-12);
  EXPECT_NEAR(RateAt(25, cosine),
              2 + 6 * (1 + std::cos(std::numbers::pi / 4)) / 2, 1e-12);
  EXPECT_EQ(RateAt(100, cosine), 2);
  EXPECT_EQ(RateAt(5000, cosine), 2);
}

TEST(ChosenSchedule, EachMayWarmUp) {
  const ScheduleOptions constant = {.learning_rate = 8, .warm_up = 4};
  EXPECT_EQ(RateAt(0, constant), 2);
  EXPECT_EQ(RateAt(2, constant), 6);
  EXPECT_EQ(RateAt(3, constant), 8);
  EXPECT_EQ(RateAt(99, constant), 8);
  EXPECT_EQ(RateAt(1, {"exponential", 8, 0.5, 1, /*warm_up=*/4}), 2);
}

TEST(ChosenSchedule, NamesReportTheirParameters) {
  for (const std::string& name : ScheduleNames()) {
    const ScheduleOptions options = {name, 8, 0.5, 10};
    ScheduleOptions other = options;
    other.factor = 0.25;
    EXPECT_EQ(RateAt(13, other) != RateAt(13, options), TakesDecayFactor(name))
        << name;
    other = options;
    other.steps = 5;
    EXPECT_EQ(RateAt(7, other) != RateAt(7, options), TakesDecaySteps(name))
        << name;
  }
}

TEST(ChosenSchedule, AnUnknownNameIsRefused) {
  GraphBuilder b("train");
  EXPECT_EQ(
      LearningRate(b, CountSteps(b), {.name = "linear"}).status().message(),
      "schedule: found linear; expected one of constant, step, "
      "exponential, cosine");
}

using Update = std::function<void(GraphBuilder& b, Tensor loss, Tensor step)>;

// A module that minimizes w * w.
Fingerprint Trained(const Update& update) {
  GraphBuilder b("train");
  const Tensor step = CountSteps(b);
  const Tensor w = b.Variable("w", HostTensor::Of<float>({2}, {1, 2}));
  const Tensor loss = ReduceSum(w * w, {0}, false);
  update(b, loss, step);
  b.Output("loss", loss);
  const auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return FingerprintOf(*module);
}

Fingerprint TrainedBy(const UpdateRule& rule) {
  return Trained([&](GraphBuilder& b, Tensor loss, Tensor step) {
    const absl::Status status = Minimize(b, loss, step, rule);
    EXPECT_TRUE(status.ok()) << status;
  });
}

TEST(Minimize, IsGradientsClippingScheduleAndOptimizer) {
  EXPECT_EQ(TrainedBy({.optimizer = {"adamw", 0, 0.125},
                       .schedule = {"cosine", 0.5, 0, 10},
                       .clip_norm = 1}),
            Trained([](GraphBuilder& b, Tensor loss, Tensor step) {
              const std::vector<Parameter> clipped =
                  ClipByNorm(b.Gradients(loss), 1);
              AdamW(clipped, CosineDecay(step, 0.5, 0, 10), step,
                    {.weight_decay = 0.125});
            }));
  EXPECT_EQ(TrainedBy({.schedule = {.learning_rate = 0.5}}),
            Trained([](GraphBuilder& b, Tensor loss, Tensor) {
              const std::vector<Parameter> parameters = b.Gradients(loss);
              Sgd(parameters, b.Scalar(DType::kF64, 0.5));
            }));
}

}  // namespace
}  // namespace partita
