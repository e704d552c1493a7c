// Layer norm: all dimensions from one axis on, shifted and scaled to mean 0 and
// variance 1; or only scaled, as in RMS norms.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", x.rank()));
  const auto normalised = absl::MakeConstSpan(x.dims).subspan(AxisOf(op));
  for (int i = 1; i < op.num_operands(); ++i) {
    PARTITA_RETURN_IF_ERROR(ExpectDType(op, i, kFloats));
    PARTITA_RETURN_IF_ERROR(ExpectDims(op, i, normalised));
  }
  return results.Set(0, x.RowMajor());
}

void Normalise(absl::Span<double> x, bool center, double epsilon) {
  const double count = static_cast<double>(x.size());
  double mean = 0;
  if (center) {
    for (double v : x) mean += v;
    mean /= count;
  }
  double variance = 0;
  for (double v : x) variance += (v - mean) * (v - mean);
  const double deviation = std::sqrt(variance / count + epsilon);
  for (double& v : x) v = (v - mean) / deviation;
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> scale = ToDoubles(in[1]);
  const std::vector<double> bias =
      in.size() > 2 ? ToDoubles(in[2]) : std::vector<double>(scale.size(), 0);
  for (size_t at = 0; at < x.size(); at += scale.size()) {
    const absl::Span<double> line(&x[at], scale.size());
    Normalise(line, op.attr_bool("center"), op.attr_float("epsilon"));
    for (size_t i = 0; i < line.size(); ++i) {
      line[i] = line[i] * scale[i] + bias[i];
    }
  }
  FromDoubles(x, out[0]);
  return absl::OkStatus();
}

// Dimensions before the axis are kept.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < AxisOf(op); ++d) rule.Keep(absl::StrCat("d", d), d, d);
  return rule.Finish();
}

// With n = x r, where r is 1 / sqrt(mean x^2 + epsilon), and g = scale dy:
// dx = r (g - n mean(g n)).
absl::Status GradientWithoutCenter(GradBuilder& b) {
  const Term x = b.operand(0);
  const Term dy = b.grad(0);
  Axes axes;
  for (int d = AxisOf(b.op()); d < b.op().operand_type(0).rank(); ++d) {
    axes.push_back(d);
  }
  const Term rate =
      Reciprocal(Sqrt(Mean(x * x, axes) + b.op().attr_float("epsilon")));
  const Term normalised = x * rate;
  if (b.needs(0)) {
    const Term g = dy * b.operand(1);
    b.Yield(0, rate * (g - normalised * Mean(g * normalised, axes)));
  }
  if (b.needs(1)) b.Yield(1, dy * normalised);
  if (b.needs(2)) b.Yield(2, dy);
  return b.status();
}

absl::Status Gradient(GradBuilder& b) {
  if (!b.op().attr_bool("center")) return GradientWithoutCenter(b);
  const Attributes attributes = b.op().node().attributes;
  const Term x = b.operand(0);
  const Term dy = b.grad(0);
  if (b.needs(0)) {
    b.Yield(0, Apply(kLayerNormGradient, {x, b.operand(1), dy}, attributes));
  }
  if (b.needs(1)) {
    b.Yield(1, Apply(kLayerNormScaleGradient, {x, dy}, attributes));
  }
  if (b.needs(2)) b.Yield(2, dy);
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({3, 4, 6}), F32({6}), F32({6})}},
      {{F32({3, 4, 6}), F32({4, 6})}, {{"axis", 1}}},
      {{F32({3, 4, 6}), F32({6})}, {{"center", false}}},
  };
}

}  // namespace

extern constinit const OpDef kLayerNorm = {
    .name = "layer_norm",
    .doc =
        "All dimensions from axis on shifted and scaled to mean 0 and variance "
        "1, or, if not center, only scaled to a mean square of 1; then "
        "multiplied by scale, plus bias.",
    .operands = {{{"x"}, {"scale"}, {"bias", kOptional}}},
    .attrs = {{IntAttr("axis", -1), FloatAttr("epsilon", 1e-5),
               BoolAttr("center", true)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = CostPerElement<8>,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
