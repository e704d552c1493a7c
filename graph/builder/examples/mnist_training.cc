// The convolution network of PyTorch's MNIST example, as a training step and as
// an evaluation that share their weights.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/dropout.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/examples/sizes.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

constexpr int64_t kClasses = 10;

struct Layer {
  Tensor weight;
  Tensor bias;
};

// The layers of a function, each in its own scope, so that it can be pinned.
// The first function declares their variables.
class Layers {
 public:
  Layers(GraphBuilder& b, bool declares, uint64_t seed)
      : b_(b), declares_(declares), seed_(seed) {}

  template <typename Make>
  Tensor Add(const std::string& name, Shape weight, int64_t filters,
             Make&& make) {
    const GraphBuilder::Scope scope(b_, name);
    const int64_t fan_in = Product(weight) / filters;
    return make(
        Layer{Value(name + ".weight", HeWeights(weight, fan_in, seed_++)),
              Value(name + ".bias", HostTensor({DType::kF32, {filters}, {}}))});
  }

 private:
  Tensor Value(const std::string& name, HostTensor initial) {
    return declares_ ? b_.Variable(name, std::move(initial))
                     : b_.ReadVariable(name);
  }
  GraphBuilder& b_;
  const bool declares_;
  uint64_t seed_;
};

Tensor Identity(Tensor x) { return x; }

// Height and width after both convolutions, which take off 4 each, and pools.
int64_t PooledSize(int64_t image) { return ((image - 4) / 2 - 4) / 2; }

// Log-probabilities [n, 10] of images [n, 1, rows, columns]; the caller
// provides the dropouts.
template <typename Dropout2d, typename Dropout>
Tensor Network(Tensor images, int64_t features, Layers layers,
               Dropout2d&& dropout2d, Dropout&& dropout) {
  const PoolOptions halve = {.kernel = {2, 2}, .strides = {2, 2}};
  Tensor x = layers.Add("conv1", {10, 1, 5, 5}, 10, [&](const Layer& layer) {
    return Relu(MaxPool(Conv(images, layer.weight, layer.bias), halve));
  });
  x = layers.Add("conv2", {20, 10, 5, 5}, 20, [&](const Layer& layer) {
    return Relu(MaxPool(dropout2d(Conv(x, layer.weight, layer.bias)), halve));
  });
  x = layers.Add("fc1", {features, 50}, 50, [&](const Layer& layer) {
    const Tensor flat = x.valid() ? Reshape(x, {x.dim(0), features}) : x;
    return dropout(Relu(MatMul(flat, layer.weight) + layer.bias));
  });
  return layers.Add("fc2", {50, kClasses}, kClasses, [&](const Layer& layer) {
    return LogSoftmax(MatMul(x, layer.weight) + layer.bias);
  });
}

}  // namespace

absl::StatusOr<Module> MnistTraining(const MnistTrainingOptions& options) {
  const int64_t pooled = PooledSize(options.image);
  PARTITA_RETURN_IF_ERROR(CheckSizes({options.batch, options.image, pooled}));
  const int64_t features = 20 * pooled * pooled;
  const Shape images = {options.batch, 1, options.image, options.image};
  GraphBuilder b("train");
  const Tensor step = CountSteps(b);
  const Randomness random = RandomOfSteps(b, options.seed, step);
  const Tensor probabilities = Network(
      b.Input("images", DType::kF32, images), features,
      Layers(b, true, options.seed),
      [&](Tensor x) { return Dropout2d(x, options.dropout, random); },
      [&](Tensor x) { return Dropout(x, options.dropout, random); });
  const Tensor loss =
      NllLoss(probabilities, b.Input("labels", DType::kI64, {options.batch}),
              {.label_smoothing = options.update.label_smoothing});
  PARTITA_RETURN_IF_ERROR(Minimize(b, loss, step, options.update));
  b.Output("loss", loss);

  b.BeginFunction("evaluate");
  b.Output("log_probabilities",
           Network(b.Input("images", DType::kF32, images), features,
                   Layers(b, false, options.seed), Identity, Identity));
  return b.Build();
}

}  // namespace partita
