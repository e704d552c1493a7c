// A two-layer classifier.
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "graph/builder/examples/models.h"
#include "graph/builder/examples/sizes.h"
#include "graph/builder/ops.h"
#include "graph/builder/random_tensor.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

Tensor Linear(GraphBuilder& b, Tensor x, int64_t width, uint64_t seed) {
  Tensor w = b.Constant(HeWeights({x.dim(1), width}, x.dim(1), seed));
  Tensor bias =
      b.Constant(RandomTensor({DType::kF32, {width}, {}}, seed + 1, -0.1, 0.1));
  return MatMul(x, w.Named("w")) + bias.Named("bias");
}

}  // namespace

absl::StatusOr<Module> TwoLayerPerceptron(const PerceptronOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckSizes(
      {options.batch, options.inputs, options.hidden, options.classes}));
  GraphBuilder b("mlp");
  Tensor x = b.Input("x", DType::kF32, {options.batch, options.inputs});
  Tensor h;
  {
    const GraphBuilder::Scope scope(b, "hidden");
    h = Relu(Linear(b, x, options.hidden, options.seed)).Named("h");
  }
  const GraphBuilder::Scope scope(b, "classifier");
  Tensor y = Linear(b, h, options.classes, options.seed + 2);
  b.Output("probabilities", Softmax(y));
  return b.Build();
}

}  // namespace partita
