// Models with random weights, for tests and demonstrations.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_EXAMPLES_MODELS_H_
#define PARTITA_GRAPH_BUILDER_EXAMPLES_MODELS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace partita {

// Weights are made from the seed, constants but for training: the same options
// give the same module, byte for byte. All is f32, images are N, C, H, W.

struct PerceptronOptions {
  int64_t batch = 32;
  int64_t inputs = 784;
  int64_t hidden = 256;
  int64_t classes = 10;
  uint64_t seed = 1;
};
// @mlp(%x) -> %probabilities: two layers, relu between them.
absl::StatusOr<Module> TwoLayerPerceptron(
    const PerceptronOptions& options = {});

struct SmallConvNetOptions {
  int64_t batch = 2;
  int64_t image = 16;     // height and width
  int64_t channels = 16;  // of the convolutions
  int64_t classes = 10;
  uint64_t seed = 1;
};
// @small_conv_net(%image) -> %probabilities: convolution, relu, max pool, a
// convolution with a residual, mean over the image, a linear layer, softmax.
absl::StatusOr<Module> SmallConvNet(const SmallConvNetOptions& options = {});

struct ResNet50Options {
  int64_t batch = 1;
  int64_t image = 224;  // height and width, a multiple of 32
  int64_t classes = 1000;
  uint64_t seed = 1;
};
// @resnet50(%image) -> %probabilities: ResNet-50 (He et al. 2015), strides in
// the 3x3 convolutions, its batch norms as separate nodes.
absl::StatusOr<Module> ResNet50(const ResNet50Options& options = {});

struct MnistTrainingOptions {
  int64_t batch = 64;
  double learning_rate = 0.01;
  double momentum = 0.5;  // where the optimizer takes one
  double weight_decay = 0;
  std::string optimizer = "sgd";  // graph/builder/chosen_optimizer.h
  double dropout = 0.5;
  uint64_t seed = 1;
};
// @train(%images, %labels) -> %loss: forward, backward and the update of the
// weights, which are variables, by the optimizer; and @evaluate(%images) ->
// %log_probabilities. Images are [batch, 1, 28, 28]: convolution 10x5x5, pool,
// convolution 20x5x5, dropout2d, pool, 320-50-10, in the scopes conv1, conv2,
// fc1 and fc2.
absl::StatusOr<Module> MnistTraining(const MnistTrainingOptions& options = {});

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_EXAMPLES_MODELS_H_
