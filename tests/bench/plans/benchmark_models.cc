// Names models and their sizes.
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/plans/benchmark_models.h"

#include "graph/builder/examples/models.h"
#include "tests/bench/scale_models.h"

namespace partita {

std::vector<BenchmarkModel> BenchmarkModels() {
  return {
      {"perceptron", [] { return TwoLayerPerceptron(); }},
      {"wide_perceptron",
       [] { return TwoLayerPerceptron({.batch = 256, .hidden = 1024}); }},
      {"small_conv_net", [] { return SmallConvNet(); }},
      {"larger_conv_net",
       [] { return SmallConvNet({.batch = 16, .image = 32, .channels = 32}); }},
      {"resnet50", [] { return ResNet50(); }},
      {"300_layers", [] { return LayeredModel(300, 8); }},
      {"mnist_training", [] { return MnistTraining(); }},
      {"mnist_256_training", [] { return MnistTraining({.batch = 256}); }},
      {"resnet18_training",
       [] { return ResNet18Training({.batch = 8, .width = 16}); }},
      {"gpt_1_training", [] { return GptTraining({.batch = 8, .layers = 1}); }},
      {"gpt_4_training", [] { return GptTraining({.batch = 16}); }},
      {"lstm_8_training", [] { return LstmTraining({.batch = 8}); }},
      {"lstm_32_training", [] { return LstmTraining(); }},
  };
}

}  // namespace partita
