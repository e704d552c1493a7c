// A model whose training step fits on no single device, over two and four.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/parameter_gradients.h"
#include "graph/builder/random_tensor.h"
#include "gtest/gtest.h"
#include "partita/partita.h"
#include "placement/machine/sample_machines.h"
#include "tests/gradients/training_steps.h"

namespace partita {
namespace {

constexpr int64_t kBatch = 16;
constexpr int64_t kWidth = 96;
constexpr int64_t kClasses = 10;
constexpr int kLayers = 8;
constexpr int kSteps = 200;
// Weights and momenta of the hidden layers alone are 590 KB, gradients 295 KB:
// more than one device has, less than two have.
constexpr int64_t kLittle = 700 << 10;

Tensor Dense(Tensor x, int64_t width, int layer) {
  GraphBuilder& b = *x.builder();
  const GraphBuilder::Scope scope(b, absl::StrCat("layer", layer));
  const double bound = std::sqrt(6.0 / static_cast<double>(x.dim(1)));
  const Tensor w = b.Variable(
      absl::StrCat("w", layer),
      RandomTensor({DType::kF32, {x.dim(1), width}, {}}, layer, -bound, bound));
  return MatMul(x, w);
}

// Layers in the scopes layer0 ..., SGD with momentum.
Module DeepTraining() {
  GraphBuilder b("train");
  Tensor x = b.Input("x", DType::kF32, {kBatch, kWidth});
  const Tensor labels = b.Input("labels", DType::kI64, {kBatch});
  for (int layer = 0; layer < kLayers; ++layer) {
    x = Relu(Dense(x, kWidth, layer));
  }
  const Tensor loss = CrossEntropyLoss(Dense(x, kClasses, kLayers), labels);
  Sgd(b.Gradients(loss), b.Scalar(DType::kF32, 0.01), {.momentum = 0.9});
  b.Output("loss", loss);
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

// Noise with a brighter part that depends on the label.
std::vector<HostTensor> Batch(uint64_t seed) {
  HostTensor x =
      RandomTensor({DType::kF32, {kBatch, kWidth}, {}}, seed, -0.5, 0.5);
  HostTensor labels({DType::kI64, {kBatch}, {}});
  for (int64_t n = 0; n < kBatch; ++n) {
    const int64_t label =
        static_cast<int64_t>(RandomWord(seed, 1000 + n) % kClasses);
    labels.data<int64_t>()[n] = label;
    for (int i = 0; i < 8; ++i) {
      x.data<float>()[n * kWidth + label * 8 + i] += 1;
    }
  }
  std::vector<HostTensor> inputs;
  inputs.push_back(std::move(x));
  inputs.push_back(std::move(labels));
  return inputs;
}

Numbers LossesOf(Session& session) {
  Numbers losses;
  for (int step = 0; step < kSteps; ++step) {
    const Numbers loss = LossOf(session, Batch(step), {});
    losses.insert(losses.end(), loss.begin(), loss.end());
  }
  return losses;
}

std::unique_ptr<Session> SessionBy(const std::string& strategy,
                                   const Machine& machine,
                                   std::vector<Pin> pins = {}) {
  CompileOptions options;
  options.strategy = strategy;
  options.pins = std::move(pins);
  auto session = TrainingSession(DeepTraining(), machine, options);
  if (session != nullptr) {
    EXPECT_EQ(session->plan().devices.size(), machine.devices.size());
  }
  return session;
}

TEST(LargerThanADevice, OneDeviceIsRefusedWithTheNumbers) {
  for (const char* strategy : {"single", "auto"}) {
    CompileOptions options;
    options.strategy = strategy;
    const auto compiled =
        Compile(DeepTraining(), EqualCpus(1, kLittle), options);
    ASSERT_EQ(compiled.status().code(), absl::StatusCode::kResourceExhausted)
        << compiled.status();
    EXPECT_NE(compiled.status().message().find("expected at most 700.0 KiB"),
              absl::string_view::npos)
        << compiled.status();
  }
}

// Layer by layer, equally many on each device.
std::vector<Pin> PinLayers(int devices) {
  std::vector<Pin> pins;
  for (int layer = 0; layer <= kLayers; ++layer) {
    const int device = std::min(layer * devices / kLayers, devices - 1);
    pins.push_back(
        {absl::StrCat("layer", layer), {absl::StrCat("cpu:", device)}});
  }
  return pins;
}

// The same kernels in the same order of sums: the losses of 200 steps, weights
// and momenta are bit for bit those of one device with enough memory.
TEST(LargerThanADevice, TwoAndFourTrainAsALargerOneDoes) {
  const auto one = SessionBy("single", EqualCpus(1, kTrainingMemory));
  ASSERT_NE(one, nullptr);
  const Numbers expected = LossesOf(*one);
  ASSERT_EQ(expected.size(), static_cast<size_t>(kSteps));
  EXPECT_GT(expected.front(), 2);
  EXPECT_LT(expected.back(), 0.5);
  const auto expect_same = [&](std::unique_ptr<Session> session) {
    ASSERT_NE(session, nullptr);
    EXPECT_EQ(LossesOf(*session), expected);
    ExpectSameBits(*session, *one);
  };
  expect_same(SessionBy("list", EqualCpus(2, kLittle)));
  expect_same(SessionBy("pinned", EqualCpus(2, kLittle), PinLayers(2)));
  expect_same(SessionBy("pinned", EqualCpus(4, kLittle / 2), PinLayers(4)));
}

}  // namespace
}  // namespace partita
