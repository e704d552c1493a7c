// Layers, and batches for them.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gradients/pipeline_steps.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/losses.h"
#include "graph/builder/ops.h"
#include "graph/builder/optimizers.h"
#include "graph/builder/random_tensor.h"
#include "gtest/gtest.h"

namespace partita {

Module PerceptronTraining(const PerceptronSizes& sizes) {
  const int64_t width = sizes.width;
  GraphBuilder b("train");
  Tensor x = b.Input("x", DType::kF32, {sizes.batch, width});
  for (int layer = 0; layer < sizes.layers; ++layer) {
    const std::string name = absl::StrCat("layer", layer);
    const GraphBuilder::Scope scope(b, name);
    const Tensor w = b.Variable(name + ".weight",
                                HeWeights({width, width}, width, 7 + layer));
    const Tensor bias =
        b.Variable(name + ".bias", HostTensor({DType::kF32, {width}, {}}));
    x = Relu(MatMul(x, w) + bias);
  }
  const Tensor loss =
      MseLoss(x, b.Input("target", DType::kF32, {sizes.batch, width}));
  Sgd(b.Gradients(loss), b.Scalar(DType::kF32, 0.05), {.momentum = 0.9});
  b.Output("loss", loss);
  auto module = b.Build();
  EXPECT_TRUE(module.ok()) << module.status();
  return *std::move(module);
}

std::vector<HostTensor> PerceptronBatch(const PerceptronSizes& sizes,
                                        uint64_t seed) {
  const TensorType type = {DType::kF32, {sizes.batch, sizes.width}, {}};
  std::vector<HostTensor> inputs;
  inputs.push_back(RandomTensor(type, seed, -1, 1));
  HostTensor target(type);
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const float here = inputs[0].data<float>()[i];
    target.data<float>()[i] = std::fabs(here);
  }
  inputs.push_back(std::move(target));
  return inputs;
}

}  // namespace partita
