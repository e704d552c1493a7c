// Gradients of whole models by their image: the slope of the loss.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <utility>
#include <vector>

#include "graph/builder/examples/models.h"
#include "graph/builder/random_tensor.h"
#include "graph/evaluate.h"
#include "graph/gradient/gradient.h"
#include "graph/verifier.h"
#include "gtest/gtest.h"
#include "tests/gradients/drawn.h"

namespace partita {
namespace {

double WeightedOutput(const Graph& graph, const HostTensor& image,
                      const Numbers& weights) {
  const auto values =
      Evaluate(graph, {HostTensor::ConstView(image.type(), image.bytes())});
  EXPECT_TRUE(values.ok()) << values.status();
  const Numbers y = ToNumbers((*values)[0]);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * weights[i];
  return sum;
}

HostTensor Moved(const HostTensor& image, const HostTensor& along, double by) {
  HostTensor moved = image.Clone();
  for (int64_t i = 0; i < image.type().num_elements(); ++i) {
    SetFromDouble(moved, i, GetAsDouble(image, i) + by * GetAsDouble(along, i));
  }
  return moved;
}

// Along the gradient g a step of h changes the loss by h |g|^2.
void ExpectGradientIsTheSlope(absl::StatusOr<Module> built) {
  ASSERT_TRUE(built.ok()) << built.status();
  Module module = built->Clone();
  Graph& graph = module.main();
  const ValueId output = graph.outputs()[0];
  const TensorType type = graph.type(output);
  const ValueId image_id = graph.inputs()[0];
  const ValueId seed = graph.AddInput("dy", type);
  const Loss loss = {output, seed};
  const auto gradients =
      AddGradients(graph, absl::MakeConstSpan(&loss, 1), {image_id});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  graph.SetOutputs(*gradients);
  ASSERT_TRUE(VerifyModule(module).ok()) << VerifyModule(module);

  std::vector<HostTensor> inputs;
  inputs.push_back(RandomTensor(graph.type(image_id), 3, 0, 1));
  inputs.push_back(RandomTensor(type, 4, -1, 1));
  const auto gradient = Evaluate(graph, inputs);
  ASSERT_TRUE(gradient.ok()) << gradient.status();
  double square = 0;
  for (double g : ToNumbers((*gradient)[0])) square += g * g;
  ASSERT_GT(square, 0);

  // So that the loss, which is rounded to f32, changes by 1e-3.
  const double h = 0.5e-3 / square;
  const Numbers weights = ToNumbers(inputs[1]);
  const double change =
      WeightedOutput(built->main(), Moved(inputs[0], (*gradient)[0], h),
                     weights) -
      WeightedOutput(built->main(), Moved(inputs[0], (*gradient)[0], -h),
                     weights);
  EXPECT_NEAR(change, 1e-3, 3e-5);
}

TEST(WholeModels, SmallConvolutionNetwork) {
  ExpectGradientIsTheSlope(SmallConvNet());
}

TEST(WholeModels, ResNet50) {
  ExpectGradientIsTheSlope(ResNet50({.image = 32, .classes = 10}));
}

}  // namespace
}  // namespace partita
