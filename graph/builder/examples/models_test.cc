// Tests of the example models.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/examples/models.h"

#include <gtest/gtest.h>

#include "graph/builder/random_tensor.h"
#include "graph/evaluate.h"
#include "graph/fingerprint.h"
#include "graph/op_def.h"
#include "graph/op_view.h"
#include "graph/option_error.h"

namespace partita {
namespace {

double Flops(const Graph& graph) {
  double flops = 0;
  for (const OpView& op : graph.ops()) flops += op.op().cost(op).flops;
  return flops;
}

// Rows of the output sum to one, and classes differ.
void ExpectProbabilities(const Module& module) {
  const Graph& graph = module.main();
  std::vector<HostTensor> inputs;
  inputs.push_back(RandomTensor(graph.type(graph.inputs()[0]), 3, -1, 1));
  auto outputs = Evaluate(graph, inputs);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const HostTensor& y = (*outputs)[0];
  const int64_t classes = y.type().dims[1];
  for (int64_t row = 0; row < y.type().dims[0]; ++row) {
    double sum = 0;
    for (int64_t i = 0; i < classes; ++i) {
      sum += GetAsDouble(y, row * classes + i);
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    EXPECT_NE(GetAsDouble(y, row * classes), GetAsDouble(y, row * classes + 1));
  }
}

TEST(Models, APerceptronGivesProbabilities) {
  absl::StatusOr<Module> module = TwoLayerPerceptron({.batch = 3, .inputs = 9});
  ASSERT_TRUE(module.ok()) << module.status();
  ExpectProbabilities(*module);
}

TEST(Models, ASmallConvNetGivesProbabilities) {
  absl::StatusOr<Module> module = SmallConvNet({.image = 8, .channels = 4});
  ASSERT_TRUE(module.ok()) << module.status();
  ExpectProbabilities(*module);
}

TEST(Models, ResNet50HasItsSizeAndWork) {
  absl::StatusOr<Module> module = ResNet50();
  ASSERT_TRUE(module.ok()) << module.status();
  int64_t weights = 0;
  for (int i = 0; i < module->literals().size(); ++i) {
    weights += module->literals().type(LiteralId(i)).num_elements();
  }
  // 25,557,032 trainable parameters and 53,120 running statistics.
  EXPECT_EQ(weights, 25557032 + 53120);
  EXPECT_NEAR(Flops(module->main()), 8.2e9, 0.1e9);
}

TEST(Models, ResNet50OfASmallImageGivesProbabilities) {
  absl::StatusOr<Module> module = ResNet50({.image = 32, .classes = 10});
  ASSERT_TRUE(module.ok()) << module.status();
  ExpectProbabilities(*module);
}

int64_t NumParameters(const absl::StatusOr<Module>& module) {
  EXPECT_TRUE(module.ok()) << module.status();
  int64_t count = 0;
  for (const Variable& variable : module->variables()) {
    if (variable.trainable) count += variable.type.num_elements();
  }
  return count;
}

TEST(Models, TrainedNetworksHaveTheirParameters) {
  // The size of PyTorch's ResNet-18 with this stem and ten classes.
  EXPECT_EQ(NumParameters(ResNet18Training({.batch = 2, .image = 8})),
            11173962);
  // 12 width^2 + 13 width for each block, plus the embeddings and the last
  // norm.
  const int64_t blocks = 4 * (12 * 128 * 128 + 13 * 128);
  EXPECT_EQ(NumParameters(GptTraining()), blocks + (256 + 64 + 2) * 128);
  EXPECT_EQ(NumParameters(GptTraining({.tied = false})),
            blocks + (256 + 256 + 64 + 2) * 128);
}

TEST(Models, TheSameOptionsGiveTheSameModule) {
  EXPECT_EQ(FingerprintOf(*SmallConvNet()), FingerprintOf(*SmallConvNet()));
  EXPECT_NE(FingerprintOf(*SmallConvNet()),
            FingerprintOf(*SmallConvNet({.seed = 2})));
}

// Each builder must pass on loss and precision, which are in the rule.
TEST(Models, TrainedNetworksUseTheWholeRule) {
  const UpdateRule plain;
  for (const UpdateRule& rule :
       {UpdateRule{.label_smoothing = 0.1},
        UpdateRule{.precision = DType::kBF16}, UpdateRule{.clip_norm = 1}}) {
    EXPECT_NE(FingerprintOf(*MnistTraining({.update = rule})),
              FingerprintOf(*MnistTraining({.update = plain})));
    EXPECT_NE(FingerprintOf(
                  *ResNet18Training({.image = 8, .width = 4, .update = rule})),
              FingerprintOf(*ResNet18Training(
                  {.image = 8, .width = 4, .update = plain})));
    EXPECT_NE(
        FingerprintOf(*GptTraining({.layers = 1, .width = 8, .update = rule})),
        FingerprintOf(
            *GptTraining({.layers = 1, .width = 8, .update = plain})));
    EXPECT_NE(FingerprintOf(*LstmTraining({.width = 8, .update = rule})),
              FingerprintOf(*LstmTraining({.width = 8, .update = plain})));
  }
}

TEST(Models, InvalidOptionsAreRefused) {
  EXPECT_FALSE(TwoLayerPerceptron({.batch = -1}).ok());
  EXPECT_FALSE(SmallConvNet({.channels = 0}).ok());
  EXPECT_EQ(ResNet50({.image = -32}).status().message(),
            "model: found size -32; expected 1..65536");
  EXPECT_TRUE(MnistTraining({.batch = 1, .image = 16}).ok());
  EXPECT_FALSE(MnistTraining({.image = 15}).ok());
  EXPECT_FALSE(ResNet18Training({.classes = 0}).ok());
  EXPECT_FALSE(LstmTraining({.width = 0}).ok());
  EXPECT_EQ(OptionOf(GptTraining({.width = 16, .heads = 3}).status()), "heads");
}

}  // namespace
}  // namespace partita
