// Attention: for every query a weighted mean of the values. The weights are a
// softmax of the query's products with the keys.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <vector>

#include "graph/ops/attention_head.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

constexpr int kMask = 3;

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckAttention(op, kMask));
  const AttentionDims d(op);
  return results.Set(0, {op.operand_type(0).dtype,
                         d.DimsOf(d.heads, d.queries, d.value_size),
                         {}});
}

// y_i = sum_j p_ij v_j
absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  std::vector<double> queries = ToDoubles(in[0]), keys = ToDoubles(in[1]),
                      values = ToDoubles(in[2]);
  std::vector<double> results(out[0].type().num_elements(), 0);
  const AttentionScores scores(
      op, kMask,
      in.size() > kMask ? ToDoubles(in[kMask]) : std::vector<double>());
  const AttentionDims& d = scores.dims();
  const HeadRows q(queries, d.StridesOf(d.heads, d.queries, d.size));
  const HeadRows k(keys, d.StridesOf(d.kv_heads, d.keys, d.size));
  const HeadRows v(values, d.StridesOf(d.kv_heads, d.keys, d.value_size));
  const HeadRows y(results, d.StridesOf(d.heads, d.queries, d.value_size));
  for (int64_t n = 0; n < d.samples; ++n) {
    for (int64_t h = 0; h < d.heads; ++h) {
      for (int64_t i = 0; i < d.queries; ++i) {
        const std::vector<double> p = scores.Weights(n, h, i, q, k, nullptr);
        for (size_t j = 0; j < p.size(); ++j) {
          const double* const value = v.At(n, h / d.group(), j);
          double* const result = y.At(n, h, i);
          for (int64_t c = 0; c < d.value_size; ++c) {
            result[c] += p[j] * value[c];
          }
        }
      }
    }
  }
  FromDoubles(results, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  return {.flops = AttentionFlops(op, 1, 1), .bytes = BytesAccessedOnce(op)};
}

DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const AttentionFactors factors(rule, op, /*whole_group=*/false);
  factors.AddOperands(rule, op, kMask);
  factors.AddQueryResult(rule, 0);
  return rule.Finish();
}

// --- the gradient by the mask, in simple ops as it is rarely needed ---

Term Product(Term a, Term b) {
  return Apply(kMatmul, {a, b}, {{"transpose_b", true}});
}

// As [n, key heads, rows, size]: query heads of one key head are stacked as
// rows.
Term InGroups(Term x, const AttentionDims& d) {
  const Term y = d.positions_first ? TransposeTo(x, {0, 2, 1, 3}) : x;
  const Shape dims = y.dims();
  if (dims.size() != 4 || dims[1] == d.kv_heads) return y;
  return ReshapeTo(y, {dims[0], d.kv_heads, d.group() * dims[2], dims[3]});
}

// The causal mask: which keys each query sees, by position.
Term Seen(GradBuilder& b, const AttentionDims& d) {
  const auto count = [&](int64_t start, int64_t count) {
    return b.Apply(
        kIota, {},
        {{"dtype", DType::kI64}, {"start", Number(start)}, {"count", count}});
  };
  return LessEqual(count(0, d.keys),
                   ReshapeTo(count(d.past, d.queries), {d.queries, 1}));
}

Term MaskedScores(GradBuilder& b, const AttentionDims& d) {
  const double softcap = b.op().attr_float("softcap");
  Term scores =
      ReshapeTo(Product(InGroups(b.operand(0), d), InGroups(b.operand(1), d)),
                {d.samples, d.heads, d.queries, d.keys});
  scores = scores * b.op().attr_float("scale");
  if (softcap > 0) scores = Tanh(scores / softcap) * softcap;
  scores = scores + b.operand(kMask);
  if (!d.causal) return scores;
  return Where(Seen(b, d), scores, -std::numeric_limits<double>::infinity());
}

// p (dp - sum p dp)
Term MaskGradient(GradBuilder& b) {
  const AttentionDims d(b.op());
  const Term p = Apply(kSoftmax, {MaskedScores(b, d)}, {{"axis", int64_t{-1}}});
  const Term dp =
      ReshapeTo(Product(InGroups(b.grad(0), d), InGroups(b.operand(2), d)),
                {d.samples, d.heads, d.queries, d.keys});
  const Term slopes = p * (dp - Sum(p * dp, {3}));
  if (!b.op().attr_bool("zero_blind")) return slopes;
  return Where(Equal(p, p), slopes, 0.0);  // NaN for queries that see no key
}

absl::Status Gradient(GradBuilder& b) {
  const Attributes attributes = b.op().node().attributes;
  std::vector<Term> operands = {b.operand(0), b.operand(1), b.operand(2),
                                b.grad(0)};
  if (b.num_operands() > kMask) operands.push_back(b.operand(kMask));
  if (b.needs(0) || b.needs(1) || b.needs(2)) {
    const std::vector<Term> slopes =
        b.ApplyAll(kAttentionGradient, operands, attributes);
    for (size_t i = 0; i < slopes.size(); ++i) {
      b.Yield(static_cast<int>(i), slopes[i]);
    }
  }
  if (b.needs(kMask)) b.Yield(kMask, MaskGradient(b));
  return b.status();
}

std::vector<OpSample> Samples() {
  const SampleOperand queries = F32({3, 4, 5, 2});
  const SampleOperand keys = F32({3, 2, 6, 2});
  const SampleOperand values = F32({3, 2, 6, 3});
  const Attributes scaled = {{"scale", 0.5}};
  const Attributes causal = {{"scale", 0.5}, {"causal", true}};
  const Attributes late = {
      {"scale", 0.5}, {"causal", true}, {"past", int64_t{1}}};
  const Attributes rows = {{"scale", 0.5}, {"positions_first", true}};
  const Attributes capped = {{"scale", 2.0}, {"softcap", 1.5}};
  return {
      {{queries, keys, values}, scaled},
      {{queries, keys, values}, late},
      {{queries, keys, values, F32({3, 4, 5, 6})}, capped},
      {{queries, keys, values, F32({3, 1, 1, 6})}, causal},
      {{queries, keys, values, F32({5, 1})}, late},
      {{F32({3, 3, 4, 2}), F32({3, 1, 4, 2}), F32({3, 1, 4, 2})}, causal},
      {{F32({3, 5, 4, 2}), F32({3, 6, 2, 2}), F32({3, 6, 2, 3})}, rows},
  };
}

}  // namespace

extern constinit const OpDef kAttention = {
    .name = "attention",
    .doc =
        "For every head and query the mean of the values, weighted by "
        "softmax(scale q k + mask); tensors are [n, heads, positions, size], "
        "or [n, positions, heads, size] if positions_first, with fewer heads "
        "of k and v if each serves several of q. A softcap c bounds products s "
        "as c tanh(s / c). If causal, query i sees keys 0 to i + past. A query "
        "that sees none gets NaN, or 0 if zero_blind.",
    .operands = {{{"q"}, {"k"}, {"v"}, {"mask", kOptional}}},
    .attrs = kAttentionAttrs,
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
