// ResNet-18 (He et al. 2015) for small images, as a training step and as an
// evaluation that share weights and running statistics.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/builder/batch_norm_training.h"
#include "graph/builder/dropout.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/examples/shared_weights.h"
#include "graph/builder/examples/sizes.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// Weights have torchvision's names.
class ResNet18 {
 public:
  ResNet18(GraphBuilder& b, const ResNet18TrainingOptions& options)
      : b_(b), options_(options), weights_(b, options.seed) {}

  // Scores [n, classes] of images [n, channels, height, width].
  Tensor Scores(Tensor images, bool trains) {
    trains_ = trains;
    channels_ = options_.channels;
    Tensor x = Stem(images);
    for (int stage = 0; stage < 4; ++stage) {
      const std::string name = absl::StrCat("layer", stage + 1);
      const GraphBuilder::Scope scope(b_, name);
      const int64_t width = options_.width << stage;
      x = Block(x, name + ".0", width, stage == 0 ? 1 : 2);
      x = Block(x, name + ".1", width, 1);
    }
    return Classifier(x);
  }

 private:
  Tensor Stem(Tensor images) {
    const GraphBuilder::Scope scope(b_, "stem");
    return Relu(ConvNorm(images, "conv1", "bn1", options_.width, 3, 1));
  }

  Tensor Block(Tensor x, const std::string& name, int64_t width,
               int64_t stride) {
    const int64_t channels = channels_;
    Tensor y =
        Relu(ConvNorm(x, name + ".conv1", name + ".bn1", width, 3, stride));
    y = ConvNorm(y, name + ".conv2", name + ".bn2", width, 3, 1);
    if (channels == width && stride == 1) return Relu(y + x);
    channels_ = channels;
    return Relu(y + ConvNorm(x, name + ".downsample.0", name + ".downsample.1",
                             width, 1, stride));
  }

  Tensor Classifier(Tensor x) {
    const GraphBuilder::Scope scope(b_, "fc");
    x = ReduceMean(x, {2, 3}, /*keep_dims=*/false);
    const double bound = 1 / std::sqrt(static_cast<double>(channels_));
    const Tensor weight =
        weights_.Uniform("fc.weight", {options_.classes, channels_}, bound);
    return MatMul(x, weight, {.transpose_b = true}) +
           weights_.Filled("fc.bias", {options_.classes}, 0);
  }

  // From channels_ to `width` channels; sets channels_ to `width`.
  Tensor ConvNorm(Tensor x, const std::string& conv, const std::string& norm,
                  int64_t width, int64_t kernel, int64_t stride) {
    const double fan_in = static_cast<double>(channels_ * kernel * kernel);
    const Tensor weight =
        weights_.Uniform(conv + ".weight", {width, channels_, kernel, kernel},
                         std::sqrt(6 / fan_in));
    const int64_t pad = kernel / 2;
    channels_ = width;
    return Norm(Conv(x, weight,
                     {.strides = {stride, stride},
                      .pads_before = {pad, pad},
                      .pads_after = {pad, pad}}),
                norm);
  }

  Tensor Norm(Tensor x, const std::string& name) {
    const Shape dims = {channels_};
    const Tensor scale = weights_.Filled(name + ".weight", dims, 1);
    const Tensor bias = weights_.Filled(name + ".bias", dims, 0);
    const std::string mean_name = name + ".running_mean";
    const std::string variance_name = name + ".running_var";
    const Tensor mean = weights_.Statistic(mean_name, dims, 0);
    const Tensor variance = weights_.Statistic(variance_name, dims, 1);
    return trains_ ? BatchNormTraining(x, scale, bias, mean_name, variance_name,
                                       {.shards = options_.batch_norm_shards})
                   : BatchNorm(x, scale, bias, mean, variance);
  }

  GraphBuilder& b_;
  const ResNet18TrainingOptions options_;
  SharedWeights weights_;
  bool trains_ = false;   // in the current function
  int64_t channels_ = 0;  // of the next convolution's operand
};

}  // namespace

absl::StatusOr<Module> ResNet18Training(
    const ResNet18TrainingOptions& options) {
  PARTITA_RETURN_IF_ERROR(
      CheckSizes({options.batch, options.channels, options.image,
                  options.classes, options.width}));
  const Shape images = {options.batch, options.channels, options.image,
                        options.image};
  GraphBuilder b("train");
  ResNet18 network(b, options);
  const Tensor step = CountSteps(b);
  const Tensor scores =
      network.Scores(b.Input("images", DType::kF32, images), true);
  const Tensor loss =
      CrossEntropyLoss(scores, b.Input("labels", DType::kI64, {options.batch}),
                       {.label_smoothing = options.update.label_smoothing});
  PARTITA_RETURN_IF_ERROR(Minimize(b, loss, step, options.update));
  b.Output("loss", loss);

  b.BeginFunction("evaluate");
  b.Output("log_probabilities",
           LogSoftmax(
               network.Scores(b.Input("images", DType::kF32, images), false)));
  return b.Build();
}

}  // namespace partita
