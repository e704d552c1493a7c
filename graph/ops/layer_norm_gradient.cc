// Gradients of a layer norm with respect to x and its scale.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Span<const int64_t> Normalised(const OpView& op) {
  return absl::MakeConstSpan(op.operand_type(0).dims).subspan(AxisOf(op));
}

// dy, with x's extents, is the last operand.
absl::Status CheckLines(const OpView& op) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", x.rank()));
  for (int i = 0; i < op.num_operands(); ++i) {
    PARTITA_RETURN_IF_ERROR(ExpectDType(op, i, kFloats));
  }
  return ExpectDims(op, op.num_operands() - 1, x.dims);
}

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckLines(op));
  PARTITA_RETURN_IF_ERROR(ExpectDims(op, 1, Normalised(op)));
  return results.Set(0, op.operand_type(0).RowMajor());
}

absl::Status InferScale(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckLines(op));
  return results.Set(0,
                     {op.operand_type(0).dtype, ToShape(Normalised(op)), {}});
}

using Line = absl::Span<double>;

// Shifts and scales x to mean 0 and variance 1. Returns the rate.
double Normalise(Line x, double epsilon) {
  const double count = static_cast<double>(x.size());
  double mean = 0;
  for (double v : x) mean += v;
  mean /= count;
  double variance = 0;
  for (double v : x) variance += (v - mean) * (v - mean);
  const double rate = 1 / std::sqrt(variance / count + epsilon);
  for (double& v : x) v = (v - mean) * rate;
  return rate;
}

// With g = dy scale: dx = rate (g - mean g - x_hat mean(g x_hat)).
void Differentiate(Line x_hat, double rate, const std::vector<double>& scale,
                   Line dy) {
  const double count = static_cast<double>(dy.size());
  double mean = 0;
  double slope = 0;
  for (size_t i = 0; i < dy.size(); ++i) {
    dy[i] *= scale[i];
    mean += dy[i];
    slope += dy[i] * x_hat[i];
  }
  for (size_t i = 0; i < dy.size(); ++i) {
    dy[i] = rate * (dy[i] - mean / count - x_hat[i] * (slope / count));
  }
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> scale = ToDoubles(in[1]);
  std::vector<double> dy = ToDoubles(in[2]);
  for (size_t at = 0; at < x.size(); at += scale.size()) {
    const Line line(&x[at], scale.size());
    const double rate = Normalise(line, op.attr_float("epsilon"));
    Differentiate(line, rate, scale, Line(&dy[at], scale.size()));
  }
  FromDoubles(dy, out[0]);
  return absl::OkStatus();
}

absl::Status EvaluateScale(const OpView& op, absl::Span<const HostTensor> in,
                           absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> dy = ToDoubles(in[1]);
  std::vector<double> sums(out[0].type().num_elements(), 0);
  for (size_t at = 0; at < x.size(); at += sums.size()) {
    Normalise(Line(&x[at], sums.size()), op.attr_float("epsilon"));
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += x[at + i] * dy[at + i];
  }
  FromDoubles(sums, out[0]);
  return absl::OkStatus();
}

// Dimensions before the axis are kept.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < AxisOf(op); ++d) {
    const int line =
        rule.Kept(absl::StrCat("d", d), op.operand_type(0).dims[d]);
    rule.Operand(0, d, line).Operand(2, d, line).Result(0, d, line);
  }
  return rule.Finish();
}

// Dimensions before the axis are summed over.
DimensionRule ScaleRule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < AxisOf(op); ++d) {
    const int line = rule.Reduced(absl::StrCat("d", d),
                                  op.operand_type(0).dims[d], Reduction::kSum);
    rule.Operand(0, d, line).Operand(1, d, line);
  }
  return rule.Finish();
}

std::vector<OpSample> LayerNormGradientSamples() {
  return {
      {{F32({3, 4, 6}), F32({6}), F32({3, 4, 6})}},
      {{F32({3, 4, 6}), F32({4, 6}), F32({3, 4, 6})}, {{"axis", 1}}},
  };
}

std::vector<OpSample> LayerNormScaleGradientSamples() {
  return {
      {{F32({3, 4, 6}), F32({3, 4, 6})}},
      {{F32({3, 4, 6}), F32({3, 4, 6})}, {{"axis", 1}}},
  };
}

}  // namespace

extern constinit const OpDef kLayerNormGradient = {
    .name = "layer_norm_gradient",
    .doc =
        "The gradient of a layer norm with this scale with respect to x, where "
        "dy is the gradient of its result.",
    .operands = {{{"x"}, {"scale"}, {"dy"}}},
    .attrs = {{IntAttr("axis", -1), FloatAttr("epsilon", 1e-5)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "not implemented: the second derivative of layer_norm",
    .cost = CostPerElement<16, 3>,
    .dimension_rule = Rule,
    .samples = LayerNormGradientSamples,
};

extern constinit const OpDef kLayerNormScaleGradient = {
    .name = "layer_norm_scale_gradient",
    .doc =
        "The gradient of a layer norm of x with respect to its scale, where dy "
        "is the gradient of its result.",
    .operands = {{{"x"}, {"dy"}}},
    .attrs = {{IntAttr("axis", -1), FloatAttr("epsilon", 1e-5)}},
    .tolerance = Tolerance::kReduction,
    .infer = InferScale,
    .eval = EvaluateScale,
    .no_gradient = "not implemented: the second derivative of layer_norm",
    .cost = CostPerElement<8>,
    .dimension_rule = ScaleRule,
    .samples = LayerNormScaleGradientSamples,
};

}  // namespace partita
