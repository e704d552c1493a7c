// ResNet-50: a stem, sixteen bottleneck blocks, a linear classifier.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/examples/sizes.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

class ResNetBuilder {
 public:
  explicit ResNetBuilder(const ResNet50Options& options)
      : options_(options), b_("resnet50"), seed_(options.seed << 16) {}

  absl::StatusOr<Module> Build() {
    Tensor x = b_.Input("image", DType::kF32,
                        {options_.batch, 3, options_.image, options_.image});
    x = Stem(x);
    const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
      for (int block = 0; block < blocks[stage]; ++block) {
        const GraphBuilder::Scope scope(
            b_, absl::StrCat("stage", stage + 1, "/block", block + 1));
        const bool halves = stage > 0 && block == 0;
        x = Bottleneck(x, int64_t{64} << stage, halves ? 2 : 1);
      }
    }
    const GraphBuilder::Scope scope(b_, "classifier");
    x = ReduceMean(x, {2, 3}, /*keep_dims=*/false);
    Tensor w = b_.Constant(HeWeights({2048, options_.classes}, 2048, seed_++));
    x = MatMul(x, w) + Uniform(options_.classes, -0.1, 0.1);
    b_.Output("probabilities", Softmax(x));
    return b_.Build();
  }

 private:
  Tensor Stem(Tensor image) {
    const GraphBuilder::Scope scope(b_, "stem");
    Tensor x = Relu(ConvNorm(image, 3, 64, 7, 2, 1));
    return MaxPool(x, {.kernel = {3, 3},
                       .strides = {2, 2},
                       .pads_before = {1, 1},
                       .pads_after = {1, 1}});
  }

  // 1x1 to `width` channels, 3x3, 1x1 to four times as many, and the input
  // added.
  Tensor Bottleneck(Tensor x, int64_t width, int64_t stride) {
    const int64_t channels = channels_;
    Tensor y = Relu(ConvNorm(x, channels, width, 1, 1, 1));
    y = Relu(ConvNorm(y, width, width, 3, stride, 1));
    // A small last scale keeps sixteen added branches from growing.
    y = ConvNorm(y, width, 4 * width, 1, 1, 0.3);
    Tensor shortcut = x;
    if (channels != 4 * width) {
      shortcut = ConvNorm(x, channels, 4 * width, 1, stride, 1);
    }
    channels_ = 4 * width;
    return Relu(y + shortcut);
  }

  Tensor ConvNorm(Tensor x, int64_t from, int64_t to, int64_t kernel,
                  int64_t stride, double scale) {
    const int64_t pad = kernel / 2;
    Tensor w = b_.Constant(
        HeWeights({to, from, kernel, kernel}, from * kernel * kernel, seed_++));
    Tensor y = Conv(x, w,
                    {.strides = {stride, stride},
                     .pads_before = {pad, pad},
                     .pads_after = {pad, pad}});
    return BatchNorm(y, Uniform(to, 0.8 * scale, 1.2 * scale),
                     Uniform(to, -0.1, 0.1), Uniform(to, -0.1, 0.1),
                     Uniform(to, 0.8, 1.2));
  }

  Tensor Uniform(int64_t count, double low, double high) {
    return b_.Constant(
        RandomTensor({DType::kF32, {count}, {}}, seed_++, low, high));
  }

  const ResNet50Options options_;
  GraphBuilder b_;
  uint64_t seed_;          // of the next constant
  int64_t channels_ = 64;  // of the next block's operand
};

}  // namespace

absl::StatusOr<Module> ResNet50(const ResNet50Options& options) {
  PARTITA_RETURN_IF_ERROR(
      CheckSizes({options.batch, options.image, options.classes}));
  return ResNetBuilder(options).Build();
}

}  // namespace partita
