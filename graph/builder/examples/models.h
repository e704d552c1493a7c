// Models with random weights, for tests and demonstrations.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_GRAPH_BUILDER_EXAMPLES_MODELS_H_
#define PARTITA_GRAPH_BUILDER_EXAMPLES_MODELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/builder/update_rule.h"
#include "graph/graph.h"

namespace partita {

// Weights are random numbers from the seed, and constants except in training:
// equal options give the same module, byte for byte. All values are f32, images
// are N, C, H, W.

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
  int64_t image = 28;  // height and width, at least 16
  UpdateRule update = {.optimizer = {.momentum = 0.5}};
  double dropout = 0.5;
  uint64_t seed = 1;
};
// @train(%images, %labels) -> %loss: forward, backward and the update of the
// weights, which are variables; and @evaluate(%images) -> %log_probabilities.
// Images are [batch, 1, image, image]: convolution 10x5x5, pool, convolution
// 20x5x5, dropout2d, pool, 320-50-10 (with images of 28), in the scopes conv1,
// conv2, fc1 and fc2.
absl::StatusOr<Module> MnistTraining(const MnistTrainingOptions& options = {});

struct ResNet18TrainingOptions {
  int64_t batch = 64;
  int64_t channels = 3;  // of the images
  int64_t image = 32;    // height and width
  int64_t classes = 10;
  int64_t width = 64;  // channels of the first stage; doubles in each stage
  UpdateRule update = {.optimizer = {.momentum = 0.9, .weight_decay = 5e-4},
                       .schedule = {.learning_rate = 0.05}};
  // Shards of the batch with their own statistics: BatchNormTrainingOptions.
  int batch_norm_shards = 1;
  uint64_t seed = 1;
};
// @train(%images, %labels) -> %loss and @evaluate(%images) ->
// %log_probabilities: ResNet-18 with a stem of 3x3 without a pool, as for
// CIFAR-10; in the scopes stem, layer1 .. layer4 and fc. Batch norms use the
// batch's statistics in training and their running statistics in evaluation.
absl::StatusOr<Module> ResNet18Training(
    const ResNet18TrainingOptions& options = {});

struct GptTrainingOptions {
  int64_t batch = 32;
  int64_t layers = 4;
  int64_t width = 128;  // a multiple of heads
  int64_t heads = 4;
  int64_t context = 64;  // tokens in a window
  int64_t vocabulary = 256;
  bool tied = true;  // the head uses the embedding's weights
  double dropout = 0;
  UpdateRule update = {.optimizer = {"adamw"},
                       .schedule = {.learning_rate = 1e-3}};
  uint64_t seed = 1;
};
// @train(%tokens, %labels) -> %loss, the mean in nats per token; tokens and
// labels (the next tokens) are i64[batch, context]. @evaluate(%tokens) ->
// %log_probabilities, f32[batch * context, vocabulary], of the next tokens. In
// the scopes embedding, block1, block2, ... and head.
absl::StatusOr<Module> GptTraining(const GptTrainingOptions& options = {});

struct LstmTrainingOptions {
  int64_t batch = 32;
  int64_t width = 128;  // of the embedding and of the state
  int64_t context = 32;
  int64_t vocabulary = 256;
  UpdateRule update = {.optimizer = {"adamw"},
                       .schedule = {.learning_rate = 2e-3},
                       .clip_norm = 1};
  uint64_t seed = 1;
};
// The functions of GptTraining with an LSTM, whose state is zero at the start
// of each window; in the scopes embedding, lstm and head.
absl::StatusOr<Module> LstmTraining(const LstmTrainingOptions& options = {});

}  // namespace partita

#endif  // PARTITA_GRAPH_BUILDER_EXAMPLES_MODELS_H_
