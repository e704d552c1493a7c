// The gradient of attention by queries, keys and values.
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <vector>

#include "graph/ops/attention_head.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr int kGradient = 3;
constexpr int kMask = 4;

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckAttention(op, kMask));
  const AttentionDims d(op);
  PARTITA_RETURN_IF_ERROR(
      ExpectDims(op, kGradient, d.DimsOf(d.heads, d.queries, d.value_size)));
  for (int i = 0; i < 3; ++i) {
    PARTITA_RETURN_IF_ERROR(results.Set(i, op.operand_type(i).RowMajor()));
  }
  return absl::OkStatus();
}

double Dot(const double* a, const double* b, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

void Add(double factor, const double* from, double* to, int64_t size) {
  for (int64_t i = 0; i < size; ++i) to[i] += factor * from[i];
}

// Operands and results, as doubles.
struct Tensors {
  Tensors(const AttentionDims& d, absl::Span<const HostTensor> in)
      : values({ToDoubles(in[0]), ToDoubles(in[1]), ToDoubles(in[2])}),
        dy_values(ToDoubles(in[kGradient])),
        slopes({std::vector<double>(values[0].size(), 0),
                std::vector<double>(values[1].size(), 0),
                std::vector<double>(values[2].size(), 0)}),
        q(values[0], d.StridesOf(d.heads, d.queries, d.size)),
        k(values[1], d.StridesOf(d.kv_heads, d.keys, d.size)),
        v(values[2], d.StridesOf(d.kv_heads, d.keys, d.value_size)),
        dy(dy_values, d.StridesOf(d.heads, d.queries, d.value_size)),
        dq(slopes[0], q.strides),
        dk(slopes[1], k.strides),
        dv(slopes[2], v.strides) {}

  std::array<std::vector<double>, 3> values;
  std::vector<double> dy_values;
  std::array<std::vector<double>, 3> slopes;
  HeadRows q, k, v, dy, dq, dk, dv;
};

// With dp_ij = dy_i v_j and ds_ij = p_ij (dp_ij - sum_j p_ij dp_ij) times the
// slope of the score: dq_i = sum_j ds_ij k_j, dk_j = sum_i ds_ij q_i, dv_j =
// sum_i p_ij dy_i.
void AddQuery(const AttentionScores& scores, const Tensors& t, int64_t n,
              int64_t h, int64_t i) {
  const AttentionDims& d = scores.dims();
  const int64_t kv = h / d.group();
  std::vector<double> slopes;
  const std::vector<double> p = scores.Weights(n, h, i, t.q, t.k, &slopes);
  const double* const dy = t.dy.At(n, h, i);
  std::vector<double> dp(p.size());
  double mean = 0;
  for (size_t j = 0; j < p.size(); ++j) {
    dp[j] = Dot(dy, t.v.At(n, kv, j), d.value_size);
    mean += p[j] * dp[j];
  }
  for (size_t j = 0; j < p.size(); ++j) {
    const double ds = p[j] * (dp[j] - mean) * slopes[j];
    Add(ds, t.k.At(n, kv, j), t.dq.At(n, h, i), d.size);
    Add(ds, t.q.At(n, h, i), t.dk.At(n, kv, j), d.size);
    Add(p[j], dy, t.dv.At(n, kv, j), d.value_size);
  }
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const AttentionScores scores(
      op, kMask,
      in.size() > kMask ? ToDoubles(in[kMask]) : std::vector<double>());
  const AttentionDims& d = scores.dims();
  const Tensors tensors(d, in);
  for (int64_t n = 0; n < d.samples; ++n) {
    for (int64_t h = 0; h < d.heads; ++h) {
      for (int64_t i = 0; i < d.queries; ++i) {
        AddQuery(scores, tensors, n, h, i);
      }
    }
  }
  for (int i = 0; i < 3; ++i) FromDoubles(tensors.slopes[i], out[i]);
  return absl::OkStatus();
}

// Two of the five products have the size of values: those for dv and dp.
Cost EstimateCost(const OpView& op) {
  return {.flops = AttentionFlops(op, 3, 2), .bytes = BytesAccessedOnce(op)};
}

// Gradients of keys and values are sums over a group of heads.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const AttentionFactors factors(rule, op, /*whole_group=*/true);
  factors.AddOperands(rule, op, kMask);
  factors.AddQueries(rule, kGradient);
  factors.AddQueryResult(rule, 0);
  factors.AddKeyResult(rule, 1);
  factors.AddKeyResult(rule, 2);
  return rule.Finish();
}

std::vector<OpSample> Samples() {
  const SampleOperand queries = F32({3, 4, 5, 2});
  const SampleOperand keys = F32({3, 2, 6, 2});
  const SampleOperand values = F32({3, 2, 6, 3});
  const SampleOperand dy = F32({3, 4, 5, 3});
  const Attributes causal = {{"scale", 0.5}, {"causal", true}};
  const Attributes late = {
      {"scale", 0.5}, {"causal", true}, {"past", int64_t{1}}};
  const Attributes rows = {{"scale", 0.5}, {"positions_first", true}};
  const Attributes capped = {{"scale", 2.0}, {"softcap", 1.5}};
  return {
      {{queries, keys, values, dy}, late},
      {{queries, keys, values, dy, F32({4, 5, 6})}, capped},
      {{F32({3, 3, 4, 2}), F32({3, 1, 4, 2}), F32({3, 1, 4, 2}),
        F32({3, 3, 4, 2})},
       causal},
      {{F32({3, 5, 4, 2}), F32({3, 6, 2, 2}), F32({3, 6, 2, 3}),
        F32({3, 5, 4, 3})},
       rows},
  };
}

}  // namespace

extern constinit const OpDef kAttentionGradient = {
    .name = "attention_gradient",
    .doc =
        "The gradients of an attention with respect to q, k and v, where dy is "
        "the gradient of its result.",
    .operands = {{{"q"}, {"k"}, {"v"}, {"dy"}, {"mask", kOptional}}},
    .num_results = 3,
    .attrs = kAttentionAttrs,
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "not implemented: the second derivative of attention",
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
