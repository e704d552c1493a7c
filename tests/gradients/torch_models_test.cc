// A training step of whole example models, compared with PyTorch's in f64
// (record_torch.py).
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/examples/models.h"
#include "gtest/gtest.h"
#include "tests/gradients/drawn.h"

namespace partita {
namespace {

// A step of plain gradient descent at this rate changes a weight by so many
// gradients that their digits are not lost.
constexpr double kRate = 64;

UpdateRule Descent() { return {.schedule = {.learning_rate = kRate}}; }

HostTensor InF32(const HostTensor& from, double divisor) {
  HostTensor tensor({DType::kF32, from.type().dims, {}});
  for (int64_t i = 0; i < from.type().num_elements(); ++i) {
    SetFromDouble(tensor, i, GetAsDouble(from, i) / divisor);
  }
  return tensor;
}

// Drawn by their position among the sorted names.
State DrawnWeights(const Module& module) {
  std::map<std::string, Shape> shapes;
  for (const Variable& variable : module.variables()) {
    if (variable.trainable) shapes[variable.name] = variable.type.dims;
  }
  State state(module);
  int number = 0;
  for (const auto& [name, dims] : shapes) {
    state.Set(name, InF32(Drawn(dims, number++), 8));
  }
  return state;
}

// The largest difference that rounding to f32 in many nodes explains.
void ExpectDigest(const Numbers& values, const Shape& dims,
                  const Numbers& recorded) {
  const Numbers weights = ToNumbers(Drawn(dims, 1));
  double squares = 0, sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    squares += values[i] * values[i];
    sum += values[i] * weights[i];
  }
  ASSERT_EQ(recorded.size(), 2u);
  EXPECT_NEAR(squares, recorded[0], 1e-5 * recorded[0] + 1e-13);
  const double size =
      std::sqrt(recorded[0] * static_cast<double>(values.size()));
  EXPECT_NEAR(sum, recorded[1], 1e-5 * size + 1e-6);
}

// Loss, gradients and statistics of one step.
void ExpectStep(const std::string& model, absl::StatusOr<Module> built,
                std::vector<HostTensor> inputs) {
  ASSERT_TRUE(built.ok()) << built.status();
  const auto lists = ReadLists("torch_models.txt");
  const State before = DrawnWeights(*built);
  State after = DrawnWeights(*built);
  const Numbers loss = ToNumbers(after.Step(built->main(), inputs));
  const double expected = lists.at(model + " loss")[0];
  ASSERT_EQ(loss.size(), 1u);
  EXPECT_NEAR(loss[0], expected, 1e-5 * expected);
  size_t compared = 1;
  for (const Variable& variable : built->variables()) {
    if (variable.name == "step") continue;
    SCOPED_TRACE(variable.name);
    Numbers values = ToNumbers(after[variable.name]);
    if (variable.trainable) {
      const Numbers old = ToNumbers(before[variable.name]);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = (old[i] - values[i]) / kRate;
      }
    }
    ExpectDigest(values, variable.type.dims,
                 lists.at(model + " " + variable.name));
    ++compared;
  }
  // PyTorch had no other weight.
  for (const auto& [name, numbers] : lists) {
    compared -= name.rfind(model + " ", 0) == 0;
  }
  EXPECT_EQ(compared, 0u);
}

std::vector<HostTensor> Tokens() {
  std::vector<HostTensor> inputs;
  inputs.push_back(DrawnIndices({2, 4}, 5));
  HostTensor labels({DType::kI64, {2, 4}, {}});
  for (int64_t i = 0; i < 8; ++i) {
    labels.data<int64_t>()[i] = (inputs[0].data<int64_t>()[i] * 3 + 1) % 5;
  }
  inputs.push_back(std::move(labels));
  return inputs;
}

GptTrainingOptions SmallGpt(bool tied) {
  return {.batch = 2,
          .layers = 2,
          .width = 8,
          .heads = 2,
          .context = 4,
          .vocabulary = 5,
          .tied = tied,
          .update = Descent()};
}

TEST(TorchModels, Gpt) {
  ExpectStep("gpt", GptTraining(SmallGpt(false)), Tokens());
}

TEST(TorchModels, GptWhoseHeadIsItsEmbedding) {
  ExpectStep("tied gpt", GptTraining(SmallGpt(true)), Tokens());
}

// Square images of five classes.
void ExpectResNet18Step(const std::string& model, int64_t batch, int64_t image,
                        int parts) {
  std::vector<HostTensor> inputs;
  inputs.push_back(InF32(Drawn({batch, 3, image, image}, 0), 1));
  inputs.push_back(DrawnIndices({batch}, 5));
  ExpectStep(model,
             ResNet18Training({.batch = batch,
                               .image = image,
                               .classes = 5,
                               .width = 4,
                               .update = Descent(),
                               .batch_norm_shards = parts}),
             std::move(inputs));
}

TEST(TorchModels, ResNet18) { ExpectResNet18Step("resnet18", 4, 8, 1); }

// As DistributedDataParallel trains it.
TEST(TorchModels, ResNet18OfTwoReplicas) {
  ExpectResNet18Step("two-replica resnet18", 8, 16, 2);
}

}  // namespace
}  // namespace partita
