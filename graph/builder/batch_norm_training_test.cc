// Batch norms by the statistics of a batch and of its shards, in cases without
// a PyTorch reference: large means and equal elements.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/batch_norm_training.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "graph/builder/ops.h"
#include "graph/evaluate.h"

namespace partita {
namespace {

std::vector<double> Numbers(const HostTensor& tensor) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    numbers.push_back(GetAsDouble(tensor, i));
  }
  return numbers;
}

Tensor Column(GraphBuilder& b, const std::vector<float>& x) {
  return b.Constant(
      HostTensor::Of<float>({static_cast<int64_t>(x.size()), 1}, x));
}

// The result of `output` for the batch norm of one channel, with a trained
// scale of 1 and no bias.
template <typename Output>
std::vector<double> OfBatchNorm(const std::vector<float>& x,
                                BatchNormTrainingOptions options,
                                Output output) {
  GraphBuilder b("f");
  b.Variable("mean", HostTensor({DType::kF32, {1}, {}}), false);
  b.Variable("variance", HostTensor({DType::kF32, {1}, {}}), false);
  const Tensor scale = b.Variable("scale", HostTensor::Of<float>({1}, {1}));
  const Tensor zero = b.Constant(HostTensor({DType::kF32, {1}, {}}));
  b.Output("y", output(BatchNormTraining(Column(b, x), scale, zero, "mean",
                                         "variance", options)));
  const auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  VariableValues state;
  for (const Variable& variable : module->variables()) {
    state[variable.name] = &module->literals().tensor(variable.initial);
  }
  const auto values = Evaluate(module->main(), {}, state);
  EXPECT_TRUE(values.ok()) << values.status();
  return values.ok() ? Numbers((*values)[0]) : std::vector<double>();
}

std::vector<double> Normalised(const std::vector<float>& x,
                               BatchNormTrainingOptions options = {}) {
  return OfBatchNorm(x, options, [](Tensor y) { return y; });
}

// The normalised value of half a unit from the mean of its part.
const double kHalf = 0.5 / std::sqrt(0.25 + 1e-5);

// In f32 the squares would have no digits left for the deviations.
TEST(BatchNormTraining, ALargeMeanKeepsTheVarianceExact) {
  const std::vector<double> y = Normalised({99999.5, 1e5 + 0.5});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_NEAR(y[0], -kHalf, 1e-6);
  EXPECT_NEAR(y[1], kHalf, 1e-6);
}

TEST(BatchNormTraining, EachPartIsNormalisedByItsOwnMean) {
  const std::vector<double> y =
      Normalised({99999.5, 1e5 + 0.5, 7.5, 6.5}, {.shards = 2});
  ASSERT_EQ(y.size(), 4u);
  EXPECT_NEAR(y[0], -kHalf, 1e-6);
  EXPECT_NEAR(y[1], kHalf, 1e-6);
  EXPECT_NEAR(y[2], kHalf, 1e-6);
  EXPECT_NEAR(y[3], -kHalf, 1e-6);
}

// The same for a sum of dy x, which f32 rounds to multiples of 4.
TEST(BatchNormTraining, ALargeMeanKeepsTheScalesGradientExact) {
  for (const int shards : {1, 2}) {
    std::vector<float> x = {8388608, 8388610};
    std::vector<float> dy = {1, 3};
    double expected = 2;
    if (shards == 2) {
      x.insert(x.end(), {-8388608, -8388610});
      dy.insert(dy.end(), {1, -4});
      expected += 5;
    }
    const std::vector<double> gradient =
        OfBatchNorm(x, {.shards = shards}, [&](Tensor y) {
          GraphBuilder& b = *y.builder();
          return b.Gradients(ReduceSum(y * Column(b, dy), {0, 1}, false))
              .at(0)
              .gradient;
        });
    ASSERT_EQ(gradient.size(), 1u);
    EXPECT_NEAR(gradient[0], expected / std::sqrt(1 + 1e-5), 1e-5) << shards;
  }
}

TEST(BatchNormTraining, EqualElementsHaveNoVariance) {
  for (const int shards : {1, 2}) {
    const std::vector<float> x(6, 1e7f / 3);
    for (double y : Normalised(x, {.shards = shards})) EXPECT_EQ(y, 0);
  }
}

// ONNX allows an image of half precision with a scale and bias of f32.
TEST(BatchNormTraining, ScaleAndBiasMayBeOfAnotherPrecision) {
  for (const int shards : {1, 2}) {
    GraphBuilder b("f");
    b.Variable("mean", HostTensor({DType::kF16, {3}, {}}), false);
    b.Variable("variance", HostTensor({DType::kF16, {3}, {}}), false);
    const Tensor x = b.Input("x", DType::kF16, {4, 3});
    const Tensor line = b.Input("line", DType::kF32, {3});
    const Tensor y = BatchNormTraining(x, line, line, "mean", "variance",
                                       {.shards = shards});
    ASSERT_TRUE(y.valid()) << b.Build().status();
    EXPECT_EQ(y.type().ToString(), "f16[4, 3]");
  }
}

}  // namespace
}  // namespace partita
