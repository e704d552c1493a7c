// A convolution network of a few nodes, with one of each common kind.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/examples/models.h"
#include "graph/builder/examples/sizes.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/status_macros.h"

namespace partita {

absl::StatusOr<Module> SmallConvNet(const SmallConvNetOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckSizes(
      {options.batch, options.image, options.channels, options.classes}));
  const int64_t channels = options.channels;
  const uint64_t seed = options.seed * 16;
  const ConvOptions same = {.pads_before = {1, 1}, .pads_after = {1, 1}};

  GraphBuilder b("small_conv_net");
  Tensor image = b.Input("image", DType::kF32,
                         {options.batch, 3, options.image, options.image});
  Tensor w1 = b.Constant(HeWeights({channels, 3, 3, 3}, 27, seed)).Named("w1");
  Tensor b1 =
      b.Constant(RandomTensor({DType::kF32, {channels}, {}}, seed + 1, -1, 1))
          .Named("b1");
  Tensor x = Relu(Conv(image, w1, b1, same));
  x = MaxPool(x, {.kernel = {2, 2}, .strides = {2, 2}}).Named("pooled");

  Tensor w2 =
      b.Constant(HeWeights({channels, channels, 3, 3}, 9 * channels, seed + 2))
          .Named("w2");
  x = (Conv(x, w2, same) + x).Named("residual");

  Tensor features = ReduceMean(x, {2, 3}, /*keep_dims=*/false);
  Tensor w3 =
      b.Constant(HeWeights({channels, options.classes}, channels, seed + 3))
          .Named("w3");
  b.Output("probabilities", Softmax(MatMul(features, w3)));
  return b.Build();
}

}  // namespace partita
