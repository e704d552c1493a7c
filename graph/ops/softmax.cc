// Softmax, its logarithm, and hardmax, along one axis.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", op.operand_type(0).rank()));
  return results.Set(0, op.operand_type(0).RowMajor());
}

using Line = absl::Span<double>;

// Computes one line in place, in doubles.
template <void (*compute)(Line line)>
absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  std::vector<double> values = ToDoubles(in[0]);
  const AxisLines lines(in[0].type().dims, AxisOf(op));
  if (values.empty()) return absl::OkStatus();
  std::vector<double> line(lines.extent);
  lines.ForEach([&](int64_t at) {
    for (int64_t i = 0; i < lines.extent; ++i) {
      line[i] = values[at + i * lines.inner];
    }
    compute(absl::MakeSpan(line));
    for (int64_t i = 0; i < lines.extent; ++i) {
      values[at + i * lines.inner] = line[i];
    }
  });
  FromDoubles(values, out[0]);
  return absl::OkStatus();
}

// y_i = exp(x_i - max x) / sum_j exp(x_j - max x)
void Softmax(Line x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& v : x) sum += v = std::exp(v - top);
  for (double& v : x) v /= sum;
}

// y_i = (x_i - max x) - log sum_j exp(x_j - max x)
void LogSoftmax(Line x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double v : x) sum += std::exp(v - top);
  const double log_sum = std::log(sum);
  for (double& v : x) v = (v - top) - log_sum;
}

// 1 for the first of the largest, otherwise 0; a NaN counts as the largest.
void Hardmax(Line x) {
  const auto is_less = [](double a, double b) {
    return std::isnan(b) ? !std::isnan(a) : a < b;
  };
  const auto top = std::max_element(x.begin(), x.end(), is_less) - x.begin();
  std::fill(x.begin(), x.end(), 0);
  x[top] = 1;
}

// Per element: max, subtract, exp, sum, divide.
DimensionRule Rule(const OpView& op) { return AlongAxisRule(op, AxisOf(op)); }

// dx = y (dy - sum y dy)
absl::Status SoftmaxGradient(GradBuilder& b) {
  const int64_t axis = AxisOf(b.op());
  const Term y = b.result(0);
  const Term dy = b.grad(0);
  b.Yield(0, y * (dy - Sum(y * dy, {axis})));
  return b.status();
}

// dx = dy - softmax(x) sum dy
absl::Status LogSoftmaxGradient(GradBuilder& b) {
  const int64_t axis = AxisOf(b.op());
  const Term dy = b.grad(0);
  b.Yield(0, dy - Exp(b.result(0)) * Sum(dy, {axis}));
  return b.status();
}

std::vector<OpSample> SoftmaxSamples() {
  return {{{F32({3, 6, 4})}, {{"axis", 1}}}};
}

std::vector<OpSample> LogSoftmaxSamples() { return {{{F32({3, 6})}}}; }

std::vector<OpSample> HardmaxSamples() { return {{{F32({3, 6})}}}; }

}  // namespace

extern constinit const OpDef kSoftmax = {
    .name = "softmax",
    .doc = "Exponentials along one axis, scaled to sum to one.",
    .operands = {{{"x"}}},
    .attrs = {{IntAttr("axis", -1)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate<Softmax>,
    .gradient = SoftmaxGradient,
    .cost = CostPerElement<5>,
    .dimension_rule = Rule,
    .samples = SoftmaxSamples,
};

extern constinit const OpDef kLogSoftmax = {
    .name = "log_softmax",
    .doc = "The logarithm of softmax along one axis.",
    .operands = {{{"x"}}},
    .attrs = {{IntAttr("axis", -1)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate<LogSoftmax>,
    .gradient = LogSoftmaxGradient,
    .cost = CostPerElement<5>,
    .dimension_rule = Rule,
    .samples = LogSoftmaxSamples,
};

extern constinit const OpDef kHardmax = {
    .name = "hardmax",
    .doc = "1 at the first of the largest along one axis, otherwise 0.",
    .operands = {{{"x"}}},
    .attrs = {{IntAttr("axis", -1)}},
    .infer = Infer,
    .eval = Evaluate<Hardmax>,
    .gradient = ZeroGradient,
    .cost = CostPerElement<5>,
    .dimension_rule = Rule,
    .samples = HardmaxSamples,
};

}  // namespace partita
