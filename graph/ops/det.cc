// Det: the determinant of each matrix.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 2));
  if (x.dims.back() != x.dims[x.rank() - 2]) {
    return BadOp(op, Describe(op, 0), "square matrices in the last dimensions",
                 "reshape the operand");
  }
  return results.Set(0, {x.dtype, {x.dims.begin(), x.dims.end() - 2}, {}});
}

// The row at or below `k` with the greatest magnitude in column k.
int64_t PivotOf(const double* m, int64_t n, int64_t k) {
  int64_t best = k;
  for (int64_t i = k + 1; i < n; ++i) {
    if (std::abs(m[i * n + k]) > std::abs(m[best * n + k])) best = i;
  }
  return best;
}

// Gaussian elimination with pivots, in place: the product of the diagonal, with
// a change of sign for each swap of rows.
double Determinant(double* m, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t pivot = PivotOf(m, n, k);
    if (pivot != k) {
      std::swap_ranges(m + k * n, m + (k + 1) * n, m + pivot * n);
      product = -product;
    }
    if (m[k * n + k] == 0) return 0;
    product *= m[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = m[i * n + k] / m[k * n + k];
      for (int64_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
    }
  }
  return product;
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const int64_t n = in[0].type().dims.back();
  std::vector<double> x = ToDoubles(in[0]);
  std::vector<double> y(out[0].type().num_elements());
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = Determinant(x.data() + i * n * n, n);
  }
  FromDoubles(y, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const TensorType x = op.operand_type(0).RowMajor();
  return {.flops = 2.0 / 3 * static_cast<double>(x.dims.back()) *
                   static_cast<double>(x.num_elements()),
          .bytes = 1.0 * x.num_bytes() + op.result_type(0).num_bytes()};
}

// [d... n n] -> [d...]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < op.operand_type(0).rank() - 2; ++d) {
    rule.Keep(absl::StrCat("d", d), d, d);
  }
  return rule.Finish();
}

std::vector<OpSample> Samples() { return {{{F32({3, 2, 4, 4})}}}; }

}  // namespace

extern constinit const OpDef kDet = {
    .name = "det",
    .doc = "The determinant of each square matrix of the last two dimensions.",
    .operands = {{{"x"}}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient = "not implemented: it takes an op that inverts matrices",
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
