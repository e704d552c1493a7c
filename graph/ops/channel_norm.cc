// Normalisations with a scale and a bias for each channel: batch, instance and
// group norm of x [n, channels, ...].
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

// x_hat = (x - mean x) rate, with rate = 1 / sqrt(variance x + epsilon), over
// some axes.
struct Normalised {
  Term x_hat;
  Term rate;
  Axes axes;
};

// 1 / sqrt(variance + epsilon)
Term RateOf(Term variance, double epsilon) {
  return Reciprocal(Sqrt(variance + epsilon));
}

Normalised Normalise(Term x, Axes axes, double epsilon) {
  const Term centred = x - Mean(x, axes);
  const Term rate = RateOf(Mean(centred * centred, axes), epsilon);
  return {centred * rate, rate, std::move(axes)};
}

// The gradient by x, where g is the gradient by x_hat: rate (g - mean g - x_hat
// mean(g x_hat)).
Term GradientOf(const Normalised& n, Term g) {
  return n.rate * (g - Mean(g, n.axes) - n.x_hat * Mean(g * n.x_hat, n.axes));
}

// Every operand but x has one element for each channel.
absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 2));
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  for (int i = 1; i < op.num_operands(); ++i) {
    PARTITA_RETURN_IF_ERROR(ExpectDType(op, i, kFloats));
    PARTITA_RETURN_IF_ERROR(ExpectDims(op, i, {op.operand_type(0).dims[1]}));
  }
  return results.Set(0, op.operand_type(0).RowMajor());
}

absl::Status InferGroups(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(Infer(op, results));
  const int64_t groups = op.attr_int("groups");
  const int64_t channels = op.operand_type(0).dims[1];
  if (groups >= 1 && channels % groups == 0) return absl::OkStatus();
  return BadExtents(op, absl::StrCat("groups ", groups),
                    absl::StrCat("a divisor of ", channels, " channels"),
                    "correct groups");
}

// The extents as [outer, channels, inner].
struct Planes {
  explicit Planes(const TensorType& x) : outer(x.dims[0]), channels(x.dims[1]) {
    for (int d = 2; d < x.rank(); ++d) inner *= x.dims[d];
  }
  int64_t outer;
  int64_t channels;
  int64_t inner = 1;
};

// x -> (x - mean) / sqrt(variance + epsilon) * scale + bias
struct Affine {
  Affine(double mean, double variance, double epsilon, double scale,
         double bias)
      : mean(mean), factor(scale / std::sqrt(variance + epsilon)), bias(bias) {}
  void Apply(double* x, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) x[i] = (x[i] - mean) * factor + bias;
  }
  double mean;
  double factor;
  double bias;
};

absl::Status EvaluateBatchNorm(const OpView& op,
                               absl::Span<const HostTensor> in,
                               absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> scale = ToDoubles(in[1]);
  const std::vector<double> bias = ToDoubles(in[2]);
  const std::vector<double> mean = ToDoubles(in[3]);
  const std::vector<double> variance = ToDoubles(in[4]);
  const Planes planes(in[0].type());
  double* plane = x.data();
  for (int64_t n = 0; n < planes.outer; ++n) {
    for (int64_t c = 0; c < planes.channels; ++c, plane += planes.inner) {
      Affine(mean[c], variance[c], op.attr_float("epsilon"), scale[c], bias[c])
          .Apply(plane, planes.inner);
    }
  }
  FromDoubles(x, out[0]);
  return absl::OkStatus();
}

struct Moments {
  Moments(const double* x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) mean += x[i];
    mean /= static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i) {
      variance += (x[i] - mean) * (x[i] - mean);
    }
    variance /= static_cast<double>(count);
  }
  double mean = 0;
  double variance = 0;
};

// Mean and variance are over `channels / groups` planes together.
absl::Status EvaluateGrouped(const OpView& op, int64_t groups,
                             absl::Span<const HostTensor> in,
                             absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> scale = ToDoubles(in[1]);
  const std::vector<double> bias = ToDoubles(in[2]);
  const Planes planes(in[0].type());
  const int64_t group = groups == 0 ? 0 : planes.channels / groups;
  double* plane = x.data();
  for (int64_t n = 0; n < planes.outer; ++n) {
    for (int64_t g = 0; g < groups; ++g) {
      const Moments moments(plane, group * planes.inner);
      for (int64_t c = g * group; c < (g + 1) * group; ++c) {
        Affine(moments.mean, moments.variance, op.attr_float("epsilon"),
               scale[c], bias[c])
            .Apply(plane, planes.inner);
        plane += planes.inner;
      }
    }
  }
  FromDoubles(x, out[0]);
  return absl::OkStatus();
}

absl::Status EvaluateInstanceNorm(const OpView& op,
                                  absl::Span<const HostTensor> in,
                                  absl::Span<HostTensor> out) {
  return EvaluateGrouped(op, in[0].type().dims[1], in, out);
}
absl::Status EvaluateGroupNorm(const OpView& op,
                               absl::Span<const HostTensor> in,
                               absl::Span<HostTensor> out) {
  return EvaluateGrouped(op, op.attr_int("groups"), in, out);
}

void PutChannels(const OpView& op, int factor, RuleBuilder& rule) {
  rule.Operand(0, 1, factor).Result(0, 1, factor);
  for (int i = 1; i < op.num_operands(); ++i) rule.Operand(i, 0, factor);
}

// [n c s...], [c]... -> [n c s...]
DimensionRule BatchNormRule(const OpView& op) {
  RuleBuilder rule(op);
  rule.Keep("n", 0, 0);
  PutChannels(op, rule.Kept("c", op.operand_type(0).dims[1]), rule);
  for (int d = 2; d < op.operand_type(0).rank(); ++d) {
    rule.Keep(absl::StrCat("s", d - 2), d, d);
  }
  return rule.Finish();
}

// The planes are whole.
DimensionRule InstanceNormRule(const OpView& op) {
  RuleBuilder rule(op);
  rule.Keep("n", 0, 0);
  PutChannels(op, rule.Kept("c", op.operand_type(0).dims[1]), rule);
  return rule.Finish();
}

// [n gc s...], [gc]... -> [n gc s...]: groups are kept, channels in them whole.
DimensionRule GroupNormRule(const OpView& op) {
  RuleBuilder rule(op);
  const int64_t groups = op.attr_int("groups");
  rule.Keep("n", 0, 0);
  PutChannels(op, rule.Kept("g", groups), rule);
  PutChannels(op, rule.Whole("c", op.operand_type(0).dims[1] / groups), rule);
  return rule.Finish();
}

void GroupNormShard(const OpView& op, int factor, int64_t begin, int64_t end,
                    Attributes& attributes) {
  if (ResultDimension(op, factor) != 1) return;
  attributes.Set("groups", end - begin);
}

// An element for each channel, to broadcast against x.
Term BesideImages(GradBuilder& b, Term x) {
  Shape dims(b.op().operand_type(0).rank(), 1);
  dims[1] = b.op().operand_type(0).dims[1];
  return ReshapeTo(x, dims);
}

// The operand's element of each channel, at the positions of x.
Term PerChannel(GradBuilder& b, int operand) {
  return CastTo(b.operand(operand), b.op().operand_type(0).dtype);
}

// By channel, dmean = -sum(dy) scale rate and dvariance = -1/2 rate^2 scale
// sum(dy (x - mean) rate). The two sums are also dbias and dscale.
absl::Status BatchNormGradient(GradBuilder& b) {
  const Term dy = b.grad(0);
  const Term scale = PerChannel(b, 1);
  const Term rate = RateOf(PerChannel(b, 4), b.op().attr_float("epsilon"));
  if (b.needs(0)) b.Yield(0, dy * BesideImages(b, scale * rate));
  if (b.needs(2) || b.needs(3)) {
    const Term sum = SumPerChannel(dy);
    b.Yield(2, sum);
    if (b.needs(3)) b.Yield(3, -sum * (scale * rate));
  }
  if (b.needs(1) || b.needs(4)) {
    const Term centred = b.operand(0) - BesideImages(b, PerChannel(b, 3));
    const Term sum = SumPerChannel(dy * centred) * rate;
    b.Yield(1, sum);
    if (b.needs(4)) b.Yield(4, sum * (scale * rate * rate * -0.5));
  }
  return b.status();
}

// Groups are normalised as [n, groups, the rest].
absl::Status GroupedGradient(GradBuilder& b, int64_t groups) {
  const Shape dims = b.operand(0).dims();
  const Term dy = b.grad(0);
  if (b.needs(2)) b.Yield(2, SumPerChannel(dy));
  if (!b.needs(0) && !b.needs(1)) return b.status();
  int64_t rest = dims[1] / groups;
  for (size_t d = 2; d < dims.size(); ++d) rest *= dims[d];
  const Shape grouped = {dims[0], groups, rest};
  const Normalised n = Normalise(ReshapeTo(b.operand(0), grouped), {2},
                                 b.op().attr_float("epsilon"));
  if (b.needs(0)) {
    const Term g = ReshapeTo(dy * BesideImages(b, PerChannel(b, 1)), grouped);
    b.Yield(0, ReshapeTo(GradientOf(n, g), dims));
  }
  if (b.needs(1)) b.Yield(1, SumPerChannel(dy * ReshapeTo(n.x_hat, dims)));
  return b.status();
}

absl::Status InstanceNormGradient(GradBuilder& b) {
  return GroupedGradient(b, b.op().operand_type(0).dims[1]);
}
absl::Status GroupNormGradient(GradBuilder& b) {
  return GroupedGradient(b, b.op().attr_int("groups"));
}

std::vector<OpSample> BatchNormSamples() {
  const SampleOperand variance = {DType::kF32, {6}, 0.1, 2};
  return {{{F32({3, 6, 4}), F32({6}), F32({6}), F32({6}), variance}}};
}

std::vector<OpSample> InstanceNormSamples() {
  return {{{F32({3, 6, 4}), F32({6}), F32({6})}}};
}

std::vector<OpSample> GroupNormSamples() {
  return {{{F32({3, 6, 4}), F32({6}), F32({6})}, {{"groups", 3}}}};
}

}  // namespace

extern constinit const OpDef kBatchNorm = {
    .name = "batch_norm",
    .doc = "(x - mean) / sqrt(var + epsilon) * scale + bias, by channel.",
    .operands = {{{"x"}, {"scale"}, {"bias"}, {"mean"}, {"var"}}},
    .attrs = {{FloatAttr("epsilon", 1e-5)}},
    .tolerance = Tolerance::kRounding,
    .infer = Infer,
    .eval = EvaluateBatchNorm,
    .gradient = BatchNormGradient,
    .cost = CostPerElement<2>,
    .dimension_rule = BatchNormRule,
    .samples = BatchNormSamples,
};

extern constinit const OpDef kInstanceNorm = {
    .name = "instance_norm",
    .doc =
        "Each plane shifted and scaled to mean 0 and variance 1, then by its "
        "channel's scale and bias.",
    .operands = {{{"x"}, {"scale"}, {"bias"}}},
    .attrs = {{FloatAttr("epsilon", 1e-5)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = EvaluateInstanceNorm,
    .gradient = InstanceNormGradient,
    .cost = CostPerElement<6>,
    .dimension_rule = InstanceNormRule,
    .samples = InstanceNormSamples,
};

extern constinit const OpDef kGroupNorm = {
    .name = "group_norm",
    .doc =
        "Like instance_norm, with one mean and variance for each group of "
        "channels.",
    .operands = {{{"x"}, {"scale"}, {"bias"}}},
    .attrs = {{RequiredAttr("groups", AttributeKind::kInt),
               FloatAttr("epsilon", 1e-5)}},
    .tolerance = Tolerance::kReduction,
    .infer = InferGroups,
    .eval = EvaluateGroupNorm,
    .gradient = GroupNormGradient,
    .cost = CostPerElement<6>,
    .dimension_rule = GroupNormRule,
    .shard_attributes = GroupNormShard,
    .samples = GroupNormSamples,
};

}  // namespace partita
