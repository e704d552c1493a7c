// A decoder-only transformer over characters (Vaswani et al. 2017, its blocks
// in GPT-2's order: Radford et al. 2019), as a training step and as an
// evaluation that share their weights.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "graph/builder/dropout.h"
#include "graph/builder/examples/models.h"
#include "graph/builder/examples/shared_weights.h"
#include "graph/builder/examples/sizes.h"
#include "graph/builder/examples/text_loss.h"
#include "graph/builder/ops.h"
#include "graph/ops/op_list.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

class Gpt {
 public:
  using Drop = std::function<Tensor(Tensor x)>;

  Gpt(GraphBuilder& b, const GptTrainingOptions& options)
      : b_(b), options_(options), weights_(b, options.seed) {}

  // Scores [n * context, vocabulary] of tokens [n, context]. Values in between
  // are [n * context, width].
  Tensor Scores(Tensor tokens, const Drop& drop) {
    if (!tokens.valid()) return {};
    n_ = tokens.dim(0);
    Tensor x = drop(Embedded(tokens));
    for (int64_t i = 1; i <= options_.layers; ++i) {
      const GraphBuilder::Scope scope(b_, absl::StrCat("block", i));
      const std::string name = absl::StrCat("block", i, ".");
      x = x + drop(SelfAttention(Norm(x, name + "norm1"), name + "attention"));
      x = x + drop(Mlp(Norm(x, name + "norm2"), name + "mlp"));
    }
    const GraphBuilder::Scope scope(b_, "head");
    const Tensor head = Embedding(options_.tied ? "embedding" : "head");
    return MatMul(Norm(x, "head.norm"), head, {.transpose_b = true});
  }

 private:
  Tensor Embedding(const std::string& name) {
    return weights_.Uniform(name + ".weight",
                            {options_.vocabulary, options_.width}, kBound);
  }

  Tensor Embedded(Tensor tokens) {
    const GraphBuilder::Scope scope(b_, "embedding");
    const Tensor positions = weights_.Uniform(
        "positions.weight", {options_.context, options_.width}, kBound);
    const Tensor x = Op(kGather, {Embedding("embedding"), tokens}) + positions;
    return Reshape(x, {n_ * options_.context, options_.width});
  }

  Tensor Norm(Tensor x, const std::string& name) {
    const Shape dims = {options_.width};
    return Op(kLayerNorm,
              {x, weights_.Filled(name + ".weight", dims, 1),
               weights_.Filled(name + ".bias", dims, 0)},
              {{"axis", 1}});
  }

  Tensor Linear(Tensor x, const std::string& name, int64_t inputs,
                int64_t outputs, double bound = kBound) {
    const Tensor weight =
        weights_.Uniform(name + ".weight", {inputs, outputs}, bound);
    return MatMul(x, weight) + weights_.Filled(name + ".bias", {outputs}, 0);
  }

  // The standard deviation of weights whose results are added to x; it
  // decreases with the number of layers.
  Tensor Projection(Tensor x, const std::string& name, int64_t inputs) {
    return Linear(x, name, inputs, options_.width,
                  kBound / std::sqrt(2 * static_cast<double>(options_.layers)));
  }

  Tensor Mlp(Tensor x, const std::string& name) {
    const int64_t hidden = 4 * options_.width;
    return Projection(Gelu(Linear(x, name + ".in", options_.width, hidden)),
                      name + ".out", hidden);
  }

  // No position sees later ones.
  Tensor SelfAttention(Tensor x, const std::string& name) {
    const int64_t width = options_.width;
    const Tensor all = Reshape(
        Linear(x, name + ".in", width, 3 * width),
        {n_, options_.context, 3, options_.heads, width / options_.heads});
    const Tensor y = Attention(all, {.causal = true});
    return Projection(Reshape(y, {n_ * options_.context, width}), name + ".out",
                      width);
  }

  // A standard deviation of 0.02.
  static constexpr double kBound = 0.0346;

  GraphBuilder& b_;
  const GptTrainingOptions options_;
  SharedWeights weights_;
  int64_t n_ = 0;  // sequences of the current function
};

Tensor Identity(Tensor x) { return x; }

absl::Status CheckOptions(const GptTrainingOptions& options) {
  PARTITA_RETURN_IF_ERROR(
      CheckSizes({options.batch, options.layers, options.width, options.heads,
                  options.context, options.vocabulary}));
  if (options.width % options.heads == 0) return absl::OkStatus();
  return OfOption(
      "heads", absl::InvalidArgumentError(absl::StrCat(
                   "heads: found ", options.heads, " for width ", options.width,
                   "; expected a divisor of the width; change one of them")));
}

}  // namespace

absl::StatusOr<Module> GptTraining(const GptTrainingOptions& options) {
  PARTITA_RETURN_IF_ERROR(CheckOptions(options));
  const Shape windows = {options.batch, options.context};
  GraphBuilder b("train");
  Gpt gpt(b, options);
  const Tensor step = CountSteps(b);
  const Randomness random = RandomOfSteps(b, options.seed, step);
  const Tensor scores =
      gpt.Scores(b.Input("tokens", DType::kI64, windows), [&](Tensor x) {
        return options.dropout == 0 ? x : Dropout(x, options.dropout, random);
      });
  PARTITA_RETURN_IF_ERROR(
      MinimizeTextLoss(b, scores, windows, step, options.update));

  b.BeginFunction("evaluate");
  b.Output("log_probabilities",
           LogSoftmax(
               gpt.Scores(b.Input("tokens", DType::kI64, windows), Identity)));
  return b.Build();
}

}  // namespace partita
