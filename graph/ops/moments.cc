// Sums and sums of squares or products over any set of dimensions.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/reduced_axes.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

// The same for both sums, and for both operands if there are two.
DimensionRule MomentsRule(const OpView& op) {
  RuleBuilder rule(op);
  const std::vector<bool> reduced = ReducedDims(op);
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    const std::string name = absl::StrCat("d", d);
    const int64_t size = op.operand_type(0).dims[d];
    const int factor = reduced[d] ? rule.Reduced(name, size, Reduction::kSum)
                                  : rule.Kept(name, size);
    for (int i = 0; i < op.num_operands(); ++i) rule.Operand(i, d, factor);
    if (!reduced[d]) rule.Result(0, d, factor).Result(1, d, factor);
  }
  return rule.Finish();
}

absl::Status InferMoments(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  if (op.num_operands() == 2) {
    PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
    PARTITA_RETURN_IF_ERROR(ExpectDims(op, 1, op.operand_type(0).dims));
  }
  PARTITA_RETURN_IF_ERROR(CheckReducedAxes(op));
  const std::vector<bool> reduced = ReducedDims(op);
  TensorType type = {DType::kF64, op.operand_type(0).dims, {}};
  for (size_t d = 0; d < reduced.size(); ++d) {
    if (reduced[d]) type.dims[d] = 1;
  }
  PARTITA_RETURN_IF_ERROR(results.Set(0, type));
  return results.Set(1, type);
}

// Neumaier (1974): a sum, and what its roundings lost. Squares and products of
// f32 are not spread evenly over the last digits of f64, so that a plain sum of
// n of them drifts with n, not with its root.
struct CompensatedSum {
  CompensatedSum(double x) : sum(x) {}  // NOLINT: for FoldReduced
  double Total() const { return std::isfinite(sum) ? sum + lost : sum; }
  double sum;
  double lost = 0;
};

CompensatedSum CompensatedStep(CompensatedSum total, CompensatedSum x) {
  const double sum = total.sum + x.sum;
  total.lost += std::fabs(total.sum) >= std::fabs(x.sum)
                    ? total.sum - sum + x.sum
                    : x.sum - sum + total.sum;
  total.sum = sum;
  return total;
}

void SumUp(const OpView& op, const std::vector<double>& x, HostTensor& out) {
  std::vector<CompensatedSum> sums(out.type().num_elements(), 0);
  FoldReduced(op, x.data(), sums, CompensatedStep);
  std::vector<double> totals;
  for (const CompensatedSum& sum : sums) totals.push_back(sum.Total());
  FromDoubles(totals, out);
}

absl::Status EvaluateMoments(const OpView& op, absl::Span<const HostTensor> in,
                             absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> y = ToDoubles(in.back());
  SumUp(op, x, out[0]);
  for (size_t i = 0; i < x.size(); ++i) x[i] *= y[i];
  SumUp(op, x, out[1]);
  return absl::OkStatus();
}

// dx = dsum + 2 x dsquares
absl::Status MomentsGradient(GradBuilder& b) {
  const Term x = b.operand(0);
  const DType dtype = x.type().dtype;
  b.Yield(0, x * CastTo(b.grad(1) * 2, dtype) + CastTo(b.grad(0), dtype));
  return b.status();
}

// dx = dsum + y dproducts, dy = x dproducts
absl::Status CrossMomentsGradient(GradBuilder& b) {
  const DType dtype = b.operand(0).type().dtype;
  const Term of_products = CastTo(b.grad(1), dtype);
  b.Yield(0, b.operand(1) * of_products + CastTo(b.grad(0), dtype));
  b.Yield(1, b.operand(0) * of_products);
  return b.status();
}

std::vector<OpSample> MomentsSamples() {
  return {
      {{F32({4, 5, 3})}, {{"axes", Ints{0, 2}}}},
      {{F32({4, 5, 3})}, {{"axes", Ints{-1}}}},
  };
}

std::vector<OpSample> CrossMomentsSamples() {
  return {
      {{F32({4, 5, 3}), F32({4, 5, 3})}, {{"axes", Ints{0, 2}}}},
      {{F32({4, 5, 3}), F32({4, 5, 3})}, {{"axes", Ints{-1}}}},
  };
}

constexpr OpDef MomentsOp(const char* name, const char* doc,
                          decltype(OpDef::operands) operands,
                          decltype(OpDef::gradient) gradient,
                          decltype(OpDef::samples) samples) {
  OpDef op;
  op.name = name;
  op.doc = doc;
  op.operands = operands;
  op.num_results = 2;
  op.attrs = {{RequiredAttr("axes", AttributeKind::kInts)}};
  op.tolerance = Tolerance::kReduction;
  op.infer = InferMoments;
  op.eval = EvaluateMoments;
  op.gradient = gradient;
  op.cost = ReductionCost;
  op.dimension_rule = MomentsRule;
  op.samples = samples;
  return op;
}

}  // namespace

extern constinit const OpDef kMoments = MomentsOp(
    "moments",
    "The sum and the sum of squares over axes, which stay with extent 1, in "
    "f64: mean and variance follow from these, also from shards' sums.",
    {{{"x"}}}, MomentsGradient, MomentsSamples);
extern constinit const OpDef kCrossMoments = MomentsOp(
    "cross_moments",
    "The sum of x and that of x y over axes, which stay with extent 1, in f64: "
    "both in one walk.",
    {{{"x"}, {"y"}}}, CrossMomentsGradient, CrossMomentsSamples);

}  // namespace partita
