// A recurrent network over characters: an embedding, an LSTM (Hochreiter and
// Schmidhuber 1997) and a linear head. Each has its own scope, so that the
// embedding can stay with the data and the rest can run on an accelerator.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>

#include "graph/builder/dropout.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/examples/shared_weights.h"
#include "graph/builder/examples/sizes.h"
#include "graph/builder/examples/text_loss.h"
#include "graph/builder/ops.h"
#include "graph/builder/recurrent.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// [time, n, width] of tokens [n, time].
Tensor Embedded(GraphBuilder& b, SharedWeights& weights, Tensor tokens,
                const LstmTrainingOptions& options) {
  const GraphBuilder::Scope scope(b, "embedding");
  const Tensor table = weights.Uniform(
      "embedding.weight", {options.vocabulary, options.width}, 0.1);
  return Transpose(Op(kGather, {table, tokens}), {1, 0, 2});
}

// [time, n, width], from a state of zeros.
Tensor Recurrent(GraphBuilder& b, SharedWeights& weights, Tensor x,
                 const LstmTrainingOptions& options) {
  const GraphBuilder::Scope scope(b, "lstm");
  if (!x.valid()) return {};
  const int64_t width = options.width;
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  const RecurrentWeights lstm = {
      weights.Uniform("lstm.weight_ih", {4 * width, width}, bound),
      weights.Uniform("lstm.weight_hh", {4 * width, width}, bound),
      weights.Filled("lstm.bias_ih", {4 * width}, 0),
      weights.Filled("lstm.bias_hh", {4 * width}, 0)};
  const Tensor zeros =
      b.Constant(HostTensor({DType::kF32, {x.dim(1), width}, {}}));
  return Lstm(x, zeros, zeros, lstm).outputs;
}

// Scores [n * time, vocabulary].
Tensor Scores(GraphBuilder& b, SharedWeights& weights, Tensor tokens,
              const LstmTrainingOptions& options) {
  const Tensor x =
      Recurrent(b, weights, Embedded(b, weights, tokens, options), options);
  const GraphBuilder::Scope scope(b, "head");
  if (!x.valid()) return {};
  const int64_t width = options.width;
  const Tensor rows =
      Reshape(Transpose(x, {1, 0, 2}), {x.dim(0) * x.dim(1), width});
  const double bound = 1 / std::sqrt(static_cast<double>(width));
  const Tensor weight =
      weights.Uniform("head.weight", {width, options.vocabulary}, bound);
  return MatMul(rows, weight) +
         weights.Filled("head.bias", {options.vocabulary}, 0);
}

}  // namespace

absl::StatusOr<Module> LstmTraining(const LstmTrainingOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckSizes(
      {options.batch, options.width, options.context, options.vocabulary}));
  const Shape windows = {options.batch, options.context};
  GraphBuilder b("train");
  SharedWeights weights(b, options.seed);
  const Tensor step = CountSteps(b);
  const Tensor scores =
      Scores(b, weights, b.Input("tokens", DType::kI64, windows), options);
  PARTITA_RETURN_IF_ERROR(
      MinimizeTextLoss(b, scores, windows, step, options.update));

  b.BeginFunction("evaluate");
  b.Output("log_probabilities",
           LogSoftmax(Scores(
               b, weights, b.Input("tokens", DType::kI64, windows), options)));
  return b.Build();
}

}  // namespace partita
