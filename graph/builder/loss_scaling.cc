// Makes the scale a variable that follows the gradients.
// SPDX-License-Identifier: Apache-2.0

#include "graph/builder/loss_scaling.h"

#include <string>

#include "graph/builder/ops.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

constexpr char kGoodSteps[] = "loss_scale.good_steps";

HostTensor ScalarOf(double value) {
  HostTensor tensor({DType::kF32, {}, {}});
  tensor.data<float>()[0] = static_cast<float>(value);
  return tensor;
}

// x - x is 0 except for infinities and NaN, and so is the sum of magnitudes.
Tensor AllFinite(const std::vector<Parameter>& parameters) {
  Tensor trouble;
  for (const Parameter& parameter : parameters) {
    const Tensor x = parameter.gradient;
    if (!x.valid()) return {};
    Ints axes;
    for (int d = 0; d < x.rank(); ++d) axes.push_back(d);
    const Tensor sum =
        Cast(Op(kReduceL1, {x - x}, {{"axes", axes}, {"keep_dims", false}}),
             DType::kF32);
    trouble = trouble.valid() ? trouble + sum : sum;
  }
  return trouble.valid() ? Equal(trouble, 0) : Tensor();
}

struct ScaleVariables {
  Tensor scale, good_steps, skipped_steps;
};

void FollowGradients(GraphBuilder& b, const ScaleVariables& variables,
                     Tensor finite, const LossScaleOptions& options) {
  if (!finite.valid()) return;
  const auto& [scale, good_steps, skipped_steps] = variables;
  const Tensor more = good_steps + 1;
  const Tensor grows =
      GreaterEqual(more, static_cast<double>(options.growth_every));
  const Tensor zero = b.Scalar(DType::kF32, 0);
  const Tensor larger = Min(scale * options.growth, options.most);
  const Tensor smaller = Max(scale * options.backoff, options.least);
  b.Update(kLossScale, Select(finite, Select(grows, larger, scale), smaller));
  b.Update(kGoodSteps, Select(finite, Select(grows, zero, more), zero));
  b.Update(kSkippedSteps, Select(finite, skipped_steps, skipped_steps + 1));
}

}  // namespace

ScaledGradients GradientsAtScale(Tensor loss, LossScaleOptions options,
                                 CallSite site) {
  const GraphBuilder::At caller(loss.builder(), site);
  if (!loss.valid()) return {};
  GraphBuilder& b = *loss.builder();
  const ScaleVariables variables = {
      b.Variable(kLossScale, ScalarOf(options.initial), false),
      b.Variable(kGoodSteps, ScalarOf(0), false),
      b.Variable(kSkippedSteps, ScalarOf(0), false)};
  const Tensor scaled = Cast(loss, DType::kF32) * variables.scale;
  ScaledGradients result{b.Gradients(scaled), {}, variables.skipped_steps};
  result.finite = AllFinite(result.parameters);
  for (Parameter& parameter : result.parameters) {
    const Tensor gradient = parameter.gradient;
    if (!gradient.valid()) return result;
    parameter.gradient =
        gradient / Cast(variables.scale, gradient.type().dtype);
  }
  FollowGradients(b, variables, result.finite, options);
  return result;
}

}  // namespace partita
