// Local response normalisation, and division by a norm along an axis.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status InferLrn(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 2));
  const int64_t size = op.attr_int("size");
  if (size < 1 || size > kMaxTensorBytes) {
    return BadOp(op, absl::StrCat("size ", size),
                 absl::StrCat("1..", kMaxTensorBytes), "correct size");
  }
  return results.Set(0, op.operand_type(0).RowMajor());
}

// y_c = x_c / (bias + alpha / size * sum of squares of the `size` channels
// around c) ^ beta
absl::Status EvaluateLrn(const OpView& op, absl::Span<const HostTensor> in,
                         absl::Span<HostTensor> out) {
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  const std::vector<double> x = ToDoubles(in[0]);
  std::vector<double> y(x.size());
  const AxisLines lines(in[0].type().dims, 1);
  const int64_t size = op.attr_int("size");
  const double alpha = op.attr_float("alpha") / static_cast<double>(size);
  const double beta = op.attr_float("beta");
  const double bias = op.attr_float("bias");
  lines.ForEach([&](int64_t at) {
    for (int64_t c = 0; c < lines.extent; ++c) {
      const int64_t first = std::max<int64_t>(0, c - (size - 1) / 2);
      const int64_t last = std::min(lines.extent - 1, c + size / 2);
      double squares = 0;
      for (int64_t i = first; i <= last; ++i) {
        squares += x[at + i * lines.inner] * x[at + i * lines.inner];
      }
      const int64_t here = at + c * lines.inner;
      y[here] = x[here] / std::pow(bias + alpha * squares, beta);
    }
  });
  FromDoubles(y, out[0]);
  return absl::OkStatus();
}

Cost LrnCost(const OpView& op) {
  const TensorType x = op.operand_type(0).RowMajor();
  return {.flops = (2.0 * op.attr_int("size") + 10) * x.num_elements(),
          .bytes = 2.0 * x.num_bytes()};
}

DimensionRule LrnRule(const OpView& op) { return AlongAxisRule(op, 1); }

absl::Status InferLpNorm(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", op.operand_type(0).rank()));
  const int64_t p = op.attr_int("p");
  if (p == 1 || p == 2) return results.Set(0, op.operand_type(0).RowMajor());
  return BadOp(op, absl::StrCat("p ", p), "1 or 2", "choose a norm");
}

// A line with norm 0 stays 0.
absl::Status EvaluateLpNorm(const OpView& op, absl::Span<const HostTensor> in,
                            absl::Span<HostTensor> out) {
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  std::vector<double> x = ToDoubles(in[0]);
  const AxisLines lines(in[0].type().dims, AxisOf(op));
  const bool squares = op.attr_int("p") == 2;
  lines.ForEach([&](int64_t at) {
    double norm = 0;
    for (int64_t i = 0; i < lines.extent; ++i) {
      const double v = x[at + i * lines.inner];
      norm += squares ? v * v : std::fabs(v);
    }
    if (squares) norm = std::sqrt(norm);
    for (int64_t i = 0; i < lines.extent; ++i) {
      if (norm != 0) x[at + i * lines.inner] /= norm;
    }
  });
  FromDoubles(x, out[0]);
  return absl::OkStatus();
}

DimensionRule LpNormRule(const OpView& op) {
  return AlongAxisRule(op, AxisOf(op));
}

// For every channel c the sum of the channels c - before .. c + after.
Term WindowSum(Term x, int64_t before, int64_t after) {
  if (!x.valid()) return {};
  const int64_t channels = x.dims()[1];
  const Term padded = PadWith(x, 1, before, after);
  Term sum = SliceOf(padded, 1, 0, channels);
  for (int64_t shift = 1; shift <= before + after; ++shift) {
    sum = sum + SliceOf(padded, 1, shift, channels);
  }
  return sum;
}

// With s the base of the power: dx = dy s^-beta - 2 alpha / size beta x (the
// sum of dy y / s over the channels that x counts in).
absl::Status LrnGradient(GradBuilder& b) {
  const OpView op = b.op();
  const int64_t size = op.attr_int("size");
  // The sum is clipped to existing channels.
  const int64_t most = std::max<int64_t>(op.operand_type(0).dims[1] - 1, 0);
  const int64_t before = std::min((size - 1) / 2, most);
  const int64_t after = std::min(size / 2, most);
  const double alpha = op.attr_float("alpha") / static_cast<double>(size);
  const double beta = op.attr_float("beta");
  const Term x = b.operand(0);
  const Term dy = b.grad(0);
  const Term base =
      WindowSum(x * x, before, after) * alpha + op.attr_float("bias");
  const Term shared = WindowSum(dy * b.result(0) / base, after, before);
  b.Yield(0, dy * Pow(base, -beta) - 2 * alpha * beta * x * shared);
  return b.status();
}

// A line with norm 0 is not divided.
absl::Status LpNormGradient(GradBuilder& b) {
  const int64_t axis = AxisOf(b.op());
  const Term x = b.operand(0);
  const Term y = b.result(0);
  const Term dy = b.grad(0);
  const bool squares = b.op().attr_int("p") == 2;
  const Term norm = squares ? Sqrt(Sum(x * x, {axis})) : Sum(Abs(x), {axis});
  const Term safe = Where(Equal(norm, 0), 1, norm);
  const Term slope = squares ? y : Sign(x);
  b.Yield(0, (dy - slope * Sum(dy * y, {axis})) / safe);
  return b.status();
}

std::vector<OpSample> LrnSamples() {
  return {{{F32({3, 6, 4})}, {{"size", 3}, {"alpha", 0.5}}}};
}

std::vector<OpSample> LpNormSamples() {
  return {
      {{F32({3, 6, 4})}, {{"axis", 1}}},
      {{F32({3, 6, 4})}, {{"p", 1}}},
  };
}

}  // namespace

extern constinit const OpDef kLrn = {
    .name = "lrn",
    .doc =
        "x divided by a power of the sum of squares of neighbouring channels.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("size", AttributeKind::kInt),
               FloatAttr("alpha", 1e-4), FloatAttr("beta", 0.75),
               FloatAttr("bias", 1)}},
    .tolerance = Tolerance::kReduction,
    .infer = InferLrn,
    .eval = EvaluateLrn,
    .gradient = LrnGradient,
    .cost = LrnCost,
    .dimension_rule = LrnRule,
    .samples = LrnSamples,
};

extern constinit const OpDef kLpNorm = {
    .name = "lp_norm",
    .doc = "x divided by its 1- or 2-norm along an axis.",
    .operands = {{{"x"}}},
    .attrs = {{IntAttr("axis", -1), IntAttr("p", 2)}},
    .tolerance = Tolerance::kReduction,
    .infer = InferLpNorm,
    .eval = EvaluateLpNorm,
    .gradient = LpNormGradient,
    .cost = CostPerElement<3>,
    .dimension_rule = LpNormRule,
    .samples = LpNormSamples,
};

}  // namespace partita
