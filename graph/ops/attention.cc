// Attention over positions of a sequence, several heads of it side by side, and
// its gradient.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "graph/ops/arithmetic.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"

namespace partita {
namespace {

// x is [n, positions, 3, heads, size].
absl::Status CheckPacked(const OpView& op) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 5, 5));
  if (op.operand_type(0).dims[2] == 3) return absl::OkStatus();
  return BadOp(op, Describe(op, 0),
               "an extent of 3 in dimension 2: queries, keys and values",
               "reshape the operand to [n, positions, 3, heads, size]");
}

Shape ResultDims(const OpView& op) {
  Shape dims = op.operand_type(0).dims;
  dims.erase(dims.begin() + 2);
  return dims;
}

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckPacked(op));
  return results.Set(0, {op.operand_type(0).dtype, ResultDims(op), {}});
}

absl::Status InferGradient(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckPacked(op));
  PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
  PARTITA_RETURN_IF_ERROR(ExpectDims(op, 1, ResultDims(op)));
  return results.Set(0, op.operand_type(0).RowMajor());
}

// One head's queries, keys, values, results or gradients of these: a vector for
// each position.
struct Vectors {
  double* first;
  int64_t step;

  double* operator[](int64_t position) const { return first + position * step; }
};

struct Head {
  explicit Head(const OpView& op)
      : positions(op.operand_type(0).dims[1]),
        size(op.operand_type(0).dims[4]),
        causal(op.attr_bool("causal")) {}

  int64_t Seen(int64_t query) const { return causal ? query + 1 : positions; }

  double Dot(const double* a, const double* b) const {
    double sum = 0;
    for (int64_t i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
  }
  void Add(double factor, const double* from, double* to) const {
    for (int64_t i = 0; i < size; ++i) to[i] += factor * from[i];
  }

  // softmax_j (q k_j / sqrt(size)), of the keys that the query sees.
  std::vector<double> Shares(const double* q, const Vectors& k,
                             int64_t seen) const {
    std::vector<double> shares(seen);
    for (int64_t j = 0; j < seen; ++j) shares[j] = scale * Dot(q, k[j]);
    const double top = *std::max_element(shares.begin(), shares.end());
    double sum = 0;
    for (double& share : shares) sum += share = std::exp(share - top);
    for (double& share : shares) share /= sum;
    return shares;
  }

  int64_t positions;
  int64_t size;
  bool causal;
  double scale = 1 / std::sqrt(static_cast<double>(size));
};

// Calls `visit` for every sample and head with its vectors in each of
// `tensors`: three (queries, keys, values) where there are three parts.
template <typename Visit>
void ForEachHead(const OpView& op, Visit visit) {
  const Shape& dims = op.operand_type(0).dims;
  const int64_t row = dims[3] * dims[4];
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t h = 0; h < dims[3]; ++h) {
      visit(
          [=](std::vector<double>& packed, int64_t part) {
            return Vectors{
                &packed[n * dims[1] * 3 * row + part * row + h * dims[4]],
                3 * row};
          },
          [=](std::vector<double>& alone) {
            return Vectors{&alone[n * dims[1] * row + h * dims[4]], row};
          });
    }
  }
}

// y_i = sum_j p_ij v_j
absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  std::vector<double> y(out[0].type().num_elements(), 0);
  if (y.empty()) return absl::OkStatus();
  const Head head(op);
  ForEachHead(op, [&](auto part_of, auto vectors_of) {
    const Vectors q = part_of(x, 0), k = part_of(x, 1), v = part_of(x, 2);
    const Vectors result = vectors_of(y);
    for (int64_t i = 0; i < head.positions; ++i) {
      const std::vector<double> p = head.Shares(q[i], k, head.Seen(i));
      for (size_t j = 0; j < p.size(); ++j) head.Add(p[j], v[j], result[i]);
    }
  });
  FromDoubles(y, out[0]);
  return absl::OkStatus();
}

// With ds_ij = p_ij (dy_i v_j - sum_j p_ij dy_i v_j) / sqrt(size):
// dq_i = sum_j ds_ij k_j, dk_j = sum_i ds_ij q_i, dv_j = sum_i p_ij dy_i.
absl::Status EvaluateGradient(const OpView& op, absl::Span<const HostTensor> in,
                              absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  std::vector<double> dy = ToDoubles(in[1]);
  std::vector<double> dx(x.size(), 0);
  if (x.empty()) return absl::OkStatus();
  const Head head(op);
  ForEachHead(op, [&](auto part_of, auto vectors_of) {
    const Vectors q = part_of(x, 0), k = part_of(x, 1), v = part_of(x, 2);
    const Vectors dq = part_of(dx, 0), dk = part_of(dx, 1), dv = part_of(dx, 2);
    const Vectors g = vectors_of(dy);
    for (int64_t i = 0; i < head.positions; ++i) {
      const std::vector<double> p = head.Shares(q[i], k, head.Seen(i));
      std::vector<double> dp(p.size());
      double mean = 0;
      for (size_t j = 0; j < p.size(); ++j) {
        dp[j] = head.Dot(g[i], v[j]);
        mean += p[j] * dp[j];
      }
      for (size_t j = 0; j < p.size(); ++j) {
        const double ds = p[j] * (dp[j] - mean) * head.scale;
        head.Add(ds, k[j], dq[i]);
        head.Add(ds, q[i], dk[j]);
        head.Add(p[j], g[i], dv[j]);
      }
    }
  });
  FromDoubles(dx, out[0]);
  return absl::OkStatus();
}

// Per pair of a query and a key that it sees: `products` vector products, and a
// softmax.
double Flops(const OpView& op, int products) {
  const Shape& dims = op.operand_type(0).dims;
  const double positions = static_cast<double>(dims[1]);
  const double seen = op.attr_bool("causal") ? (positions + 1) / 2 : positions;
  const double pairs =
      static_cast<double>(dims[0] * dims[3]) * positions * seen;
  return pairs * (2.0 * products * static_cast<double>(dims[4]) + 5);
}

Cost EstimateCost(const OpView& op) {
  return {.flops = Flops(op, 2),
          .bytes = 1.0 * op.operand_type(0).RowMajor().num_bytes() +
                   op.result_type(0).RowMajor().num_bytes()};
}

Cost EstimateGradientCost(const OpView& op) {
  return {.flops = Flops(op, 5),
          .bytes = 2.0 * op.operand_type(0).RowMajor().num_bytes() +
                   op.operand_type(1).RowMajor().num_bytes()};
}

// [n positions 3 heads size] -> [n positions heads size]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const Shape& dims = op.operand_type(0).dims;
  const int n = rule.Kept("n", dims[0]);
  const int heads = rule.Kept("heads", dims[3]);
  rule.Operand(0, 0, n).Operand(0, 3, heads);
  rule.Result(0, 0, n).Result(0, 2, heads);
  return rule.Finish();
}

// [n positions 3 heads size], [n positions heads size] -> that of the first
DimensionRule GradientRule(const OpView& op) {
  RuleBuilder rule(op);
  const Shape& dims = op.operand_type(0).dims;
  const int n = rule.Kept("n", dims[0]);
  const int heads = rule.Kept("heads", dims[3]);
  rule.Operand(0, 0, n).Operand(0, 3, heads);
  rule.Operand(1, 0, n).Operand(1, 2, heads);
  rule.Result(0, 0, n).Result(0, 3, heads);
  return rule.Finish();
}

absl::Status Gradient(GradBuilder& b) {
  b.Yield(0, Apply(kAttentionGradient, {b.operand(0), b.grad(0)},
                   {{"causal", b.op().attr_bool("causal")}}));
  return b.status();
}

}  // namespace

extern constinit const OpDef kAttention = {
    .name = "attention",
    .doc =
        "For every head and position the mean of the values, weighted by the "
        "softmax of the position's query times the keys over the square root "
        "of their size; x holds queries, keys and values as [n, positions, 3, "
        "heads, size]; if causal, a position sees none behind itself.",
    .operands = {{{"x"}}},
    .attrs = {{BoolAttr("causal", false)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
};

extern constinit const OpDef kAttentionGradient = {
    .name = "attention_gradient",
    .doc =
        "The gradient by x of an attention over x whose result has the "
        "gradient dy.",
    .operands = {{{"x"}, {"dy"}}},
    .attrs = {{BoolAttr("causal", false)}},
    .tolerance = Tolerance::kReduction,
    .infer = InferGradient,
    .eval = EvaluateGradient,
    .cost = EstimateGradientCost,
    .dimension_rule = GradientRule,
};

}  // namespace partita
