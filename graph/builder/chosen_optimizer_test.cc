// Tests that a name gives the optimizer of that name.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/chosen_optimizer.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "graph/builder/dropout.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/fingerprint.h"

namespace partita {
namespace {

using Update = std::function<void(
    GraphBuilder& b, absl::Span<const Parameter> parameters, Tensor step)>;

// A module that minimizes w * w.
Fingerprint Trained(const Update& update) {
  GraphBuilder b("train");
  const Tensor step = CountSteps(b);
  const Tensor w = b.Variable("w", HostTensor::Of<float>({2}, {1, 2}));
  const Tensor loss = ReduceSum(w * w, {0}, false);
  update(b, b.Gradients(loss), step);
  b.Output("loss", loss);
  const auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return FingerprintOf(*module);
}

Fingerprint TrainedBy(const OptimizerOptions& options) {
  return Trained([&](GraphBuilder& b, absl::Span<const Parameter> parameters,
                     Tensor step) {
    const absl::Status status =
        Optimize(parameters, b.Scalar(DType::kF32, 0.25), step, options);
    EXPECT_TRUE(status.ok()) << status;
  });
}

TEST(ChosenOptimizer, IsTheOneOfThatName) {
  const auto rate = [](GraphBuilder& b) { return b.Scalar(DType::kF32, 0.25); };
  EXPECT_EQ(TrainedBy({"sgd", 0.5, 0.125}),
            Trained([&](GraphBuilder& b, auto parameters, Tensor) {
              Sgd(parameters, rate(b),
                  {.momentum = 0.5, .weight_decay = 0.125});
            }));
  EXPECT_EQ(TrainedBy({"sgd", 0.5, 0, /*nesterov=*/true}),
            Trained([&](GraphBuilder& b, auto parameters, Tensor) {
              Sgd(parameters, rate(b), {.momentum = 0.5, .nesterov = true});
            }));
  EXPECT_EQ(TrainedBy({"adam", 0, 0.125}),
            Trained([&](GraphBuilder& b, auto parameters, Tensor step) {
              Adam(parameters, rate(b), step, {.weight_decay = 0.125});
            }));
  EXPECT_EQ(TrainedBy({"adamw", 0, 0.125}),
            Trained([&](GraphBuilder& b, auto parameters, Tensor step) {
              AdamW(parameters, rate(b), step, {.weight_decay = 0.125});
            }));
  EXPECT_EQ(TrainedBy({"adagrad", 0, 0.125}),
            Trained([&](GraphBuilder& b, auto parameters, Tensor) {
              Adagrad(parameters, rate(b), {.weight_decay = 0.125});
            }));
  EXPECT_EQ(TrainedBy({"rmsprop", 0.5, 0.125}),
            Trained([&](GraphBuilder& b, auto parameters, Tensor) {
              RmsProp(parameters, rate(b),
                      {.momentum = 0.5, .weight_decay = 0.125});
            }));
}

TEST(ChosenOptimizer, OnlySomeTakeMomentum) {
  for (const std::string& name : OptimizerNames()) {
    EXPECT_EQ(TakesMomentum(name), name == "sgd" || name == "rmsprop") << name;
    EXPECT_EQ(TrainedBy({name, 0.5}) == TrainedBy({name, 0}),
              !TakesMomentum(name))
        << name;
  }
}

TEST(ChosenOptimizer, NesterovNeedsTheMomentumOfSgd) {
  GraphBuilder b("train");
  const Tensor rate = b.Scalar(DType::kF32, 0.25);
  const auto refusal = [&](const OptimizerOptions& options) {
    return std::string(Optimize({}, rate, CountSteps(b), options).message());
  };
  EXPECT_EQ(refusal({.name = "adam", .nesterov = true}),
            "nesterov: found optimizer adam with momentum 0; expected sgd with "
            "a momentum above 0");
  EXPECT_EQ(refusal({.name = "rmsprop", .momentum = 0.5, .nesterov = true}),
            "nesterov: found optimizer rmsprop with momentum 0.5; expected sgd "
            "with a momentum above 0");
  EXPECT_EQ(refusal({.nesterov = true}),
            "nesterov: found optimizer sgd with momentum 0; expected sgd with "
            "a momentum above 0");
}

TEST(ChosenOptimizer, AnUnknownNameIsRefused) {
  GraphBuilder b("train");
  const Tensor rate = b.Scalar(DType::kF32, 0.25);
  EXPECT_EQ(Optimize({}, rate, CountSteps(b), {.name = "lion"}).message(),
            "optimizer: found lion; expected one of sgd, adam, adamw, adagrad, "
            "rmsprop");
}

}  // namespace
}  // namespace partita
