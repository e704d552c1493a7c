// Reductions over any set of dimensions: a table with one row for each op.
// Without axes no dimension is reduced.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/reduced_axes.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

template <int accepted>
absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, accepted));
  PARTITA_RETURN_IF_ERROR(CheckReducedAxes(op));
  const std::vector<bool> reduced = ReducedDims(op);
  Shape dims;
  for (int d = 0; d < x.rank(); ++d) {
    if (!reduced[d]) dims.push_back(x.dims[d]);
    if (reduced[d] && op.attr_bool("keep_dims")) dims.push_back(1);
  }
  return results.Set(0, {x.dtype, dims, {}});
}

// Sums and products: modulo 2^64 for integers.
template <typename Row>
absl::Status EvaluateWide(const OpView& op, absl::Span<const HostTensor> in,
                          absl::Span<HostTensor> out) {
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    std::vector<Wide<T>> totals(out[0].type().num_elements(), Row::kStart);
    FoldReduced(op, reinterpret_cast<const T*>(in[0].bytes()), totals,
                [](Wide<T> total, Wide<T> x) { return Row::Step(total, x); });
    T* y = reinterpret_cast<T*>(out[0].bytes());
    for (size_t i = 0; i < totals.size(); ++i) y[i] = Narrow<T>(totals[i]);
  });
  return absl::OkStatus();
}

struct SumRow {
  static constexpr int kStart = 0;
  template <typename W>
  static W Step(W total, W x) {
    return total + x;
  }
};
struct ProdRow {
  static constexpr int kStart = 1;
  template <typename W>
  static W Step(W total, W x) {
    return total * x;
  }
};
struct SumSquareRow {
  static constexpr int kStart = 0;
  template <typename W>
  static W Step(W total, W x) {
    return total + x * x;
  }
};
// True if an integer is negative; an unsigned 64-bit integer never is.
template <bool has_sign>
struct SumMagnitudeRow {
  static constexpr int kStart = 0;
  static double Step(double total, double x) { return total + std::fabs(x); }
  static uint64_t Step(uint64_t total, uint64_t x) {
    return has_sign && static_cast<int64_t>(x) < 0 ? total - x : total + x;
  }
};
absl::Status EvaluateL1(const OpView& op, absl::Span<const HostTensor> in,
                        absl::Span<HostTensor> out) {
  return IsUnsignedInteger(in[0].type().dtype)
             ? EvaluateWide<SumMagnitudeRow<false>>(op, in, out)
             : EvaluateWide<SumMagnitudeRow<true>>(op, in, out);
}

// The extremes of a type, which are the results without elements.
template <typename T, bool is_max>
T Extreme() {
  if constexpr (kIsFloat<T>) return is_max ? -HUGE_VAL : HUGE_VAL;
  using Limits = std::numeric_limits<T>;
  return is_max ? Limits::lowest() : Limits::max();
}

// A NaN among the elements gives NaN.
template <bool is_max>
absl::Status EvaluateExtreme(const OpView& op, absl::Span<const HostTensor> in,
                             absl::Span<HostTensor> out) {
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    using E = Exact<T>;
    std::vector<E> totals(out[0].type().num_elements(),
                          static_cast<E>(Extreme<T, is_max>()));
    FoldReduced(op, reinterpret_cast<const T*>(in[0].bytes()), totals,
                [](E total, E x) {
                  const bool better = is_max ? x > total : x < total;
                  return better || x != x ? x : total;
                });
    T* y = reinterpret_cast<T*>(out[0].bytes());
    for (size_t i = 0; i < totals.size(); ++i) y[i] = Narrow<T>(totals[i]);
  });
  return absl::OkStatus();
}

double SumStep(double total, double x) { return total + x; }
double SquareStep(double total, double x) { return total + x * x; }
double MaxStep(double total, double x) {
  return x > total || std::isnan(x) ? x : total;
}
double Mean(double total, double count) { return total / count; }
double Root(double total, double) { return std::sqrt(total); }
double Log(double total, double) { return std::log(total); }

// Reductions that end with a function are computed in double for all types.
template <double (*step)(double, double), double (*finish)(double, double)>
absl::Status EvaluateDouble(const OpView& op, absl::Span<const HostTensor> in,
                            absl::Span<HostTensor> out) {
  const std::vector<double> x = ToDoubles(in[0]);
  std::vector<double> totals(out[0].type().num_elements(), 0);
  FoldReduced(op, x.data(), totals, step);
  const double count = ReducedCount(op);
  for (double& total : totals) total = finish(total, count);
  FromDoubles(totals, out[0]);
  return absl::OkStatus();
}

// log sum exp(x) = m + log sum exp(x - m) with m the greatest x, if finite.
absl::Status EvaluateLogSumExp(const OpView& op,
                               absl::Span<const HostTensor> in,
                               absl::Span<HostTensor> out) {
  std::vector<double> x = ToDoubles(in[0]);
  std::vector<double> tops(out[0].type().num_elements(), -HUGE_VAL);
  FoldReduced(op, x.data(), tops, MaxStep);
  for (double& top : tops) top = std::isfinite(top) ? top : 0;
  double* next = x.data();
  ForEachOffset<1>(in[0].type().dims, {ResultStrides(op)},
                   [&](const std::array<int64_t, 1>& at) {
                     *next = std::exp(*next - tops[at[0]]);
                     ++next;
                   });
  std::vector<double> sums(tops.size(), 0);
  FoldReduced(op, x.data(), sums, SumStep);
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = tops[i] + std::log(sums[i]);
  FromDoubles(sums, out[0]);
  return absl::OkStatus();
}

// Other dimensions are kept; the reduction of the reduced ones depends on the
// op.
DimensionRule RuleOf(const OpView& op, std::optional<Reduction> reduction) {
  RuleBuilder rule(op);
  const std::vector<bool> reduced = ReducedDims(op);
  const bool keep_dims = op.attr_bool("keep_dims");
  int next = 0;
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    const std::string name = absl::StrCat("d", d);
    const int64_t size = op.operand_type(0).dims[d];
    if (!reduced[d]) {
      rule.Keep(name, d, next);
    } else if (reduction.has_value()) {
      rule.Operand(0, d, rule.Reduced(name, size, *reduction));
    }
    next += !reduced[d] || keep_dims;
  }
  return rule.Finish();
}
template <Reduction reduction>
DimensionRule PartialRule(const OpView& op) {
  return RuleOf(op, reduction);
}
DimensionRule KeptRule(const OpView& op) { return RuleOf(op, std::nullopt); }

std::vector<OpSample> SamplesOf(const SampleOperand& x) {
  return {
      {{x}, {{"axes", Ints{1}}}},
      {{x}, {{"axes", Ints{0, 2}}, {"keep_dims", false}}},
      {{I32({4, 5}, 1, 9)}, {{"axes", Ints{-1}}}},
  };
}
std::vector<OpSample> Samples() { return SamplesOf(F32({4, 5, 3})); }
// Sums of these have a logarithm.
std::vector<OpSample> PositiveSamples() {
  return SamplesOf({DType::kF32, {4, 5, 3}, 0.1, 2});
}

constexpr OpDef ReduceOp(const char* name, const char* doc,
                         decltype(OpDef::eval) eval,
                         decltype(OpDef::dimension_rule) rule,
                         decltype(OpDef::gradient) gradient) {
  OpDef op;
  op.name = name;
  op.doc = doc;
  op.operands = {{{"x"}}};
  op.attrs = {{RequiredAttr("axes", AttributeKind::kInts),
               BoolAttr("keep_dims", true)}};
  op.tolerance = Tolerance::kReduction;
  op.infer = Infer<kNumbers>;
  op.eval = eval;
  op.cost = ReductionCost;
  op.dimension_rule = rule;
  op.gradient = gradient;
  op.samples = Samples;
  return op;
}
constexpr OpDef LogSumOp(OpDef op) {
  op.samples = PositiveSamples;
  return op;
}
constexpr OpDef ExtremeOp(OpDef op) {
  op.infer = Infer<kAnyType>;
  op.tolerance = Tolerance::kExact;
  return op;
}

// The inputs of a gradient; y and dy have extents of 1 in reduced dimensions.
struct Totals {
  Term y() const { return ReshapeTo(result, kept); }
  OpView op;
  Axes axes;
  Shape kept;
  Term x;
  Term result;
  Term dy;
};

// The gradient by x, broadcast to x's extents.
template <Term (*formula)(const Totals& r)>
absl::Status Reduced(GradBuilder& b) {
  const OpView op = b.op();
  const std::vector<bool> reduced = ReducedDims(op);
  const Term x = b.operand(0);
  Shape kept = x.dims();
  Axes axes;
  for (size_t d = 0; d < kept.size(); ++d) {
    if (!reduced[d]) continue;
    kept[d] = 1;
    axes.push_back(static_cast<int64_t>(d));
  }
  const Term dx =
      formula({op, axes, kept, x, b.result(0), ReshapeTo(b.grad(0), kept)});
  b.Yield(0, ExpandTo(dx, x.dims()));
  return b.status();
}

Term SumGradient(const Totals& r) { return r.dy; }
Term MeanGradient(const Totals& r) { return r.dy * (1 / ReducedCount(r.op)); }
Term L1Gradient(const Totals& r) { return r.dy * Sign(r.x); }
// A norm of 0 has no direction: uses the subgradient 0.
Term L2Gradient(const Totals& r) {
  const Term norm = r.y();
  return r.dy * Where(Equal(norm, 0), 0, r.x / norm);
}
Term LogSumGradient(const Totals& r) { return r.dy / Sum(r.x, r.axes); }
Term LogSumExpGradient(const Totals& r) { return r.dy * Exp(r.x - r.y()); }
Term SumSquareGradient(const Totals& r) { return r.dy * 2 * r.x; }
// All elements equal to the extreme share the gradient evenly.
Term ExtremeGradient(const Totals& r) {
  const Term mark = CastTo(Equal(r.x, r.y()), r.x.type().dtype);
  return r.dy * mark / Sum(mark, r.axes);
}

// The product of the other elements, without division by zero. Counts zeros
// separately: if one of the others is 0, the product is 0.
Term ProdGradient(const Totals& r) {
  const Term zero = CastTo(Equal(r.x, 0), r.x.type().dtype);
  const Term safe = r.x + zero;
  const Term product = Apply(kReduceProd, {safe}, {{"axes", r.axes}});
  const Term others = Sum(zero, r.axes) - zero;
  return r.dy * Where(Equal(others, 0), product / safe, 0);
}

}  // namespace

// clang-format off
extern constinit const OpDef kReduceL1 = ReduceOp("reduce_l1", "The sum of magnitudes.", EvaluateL1, PartialRule<Reduction::kSum>, Reduced<L1Gradient>);
extern constinit const OpDef kReduceL2 = ReduceOp("reduce_l2", "The square root of the sum of squares.", EvaluateDouble<SquareStep, Root>, KeptRule, Reduced<L2Gradient>);
extern constinit const OpDef kReduceLogSum = LogSumOp(ReduceOp("reduce_log_sum", "The logarithm of the sum.", EvaluateDouble<SumStep, Log>, KeptRule, Reduced<LogSumGradient>));
extern constinit const OpDef kReduceLogSumExp = ReduceOp("reduce_log_sum_exp", "The logarithm of the sum of exponentials.", EvaluateLogSumExp, KeptRule, Reduced<LogSumExpGradient>);
extern constinit const OpDef kReduceMax = ExtremeOp(ReduceOp("reduce_max", "The greatest element; a NaN if there is one; without elements the least value of the type.", EvaluateExtreme<true>, PartialRule<Reduction::kMax>, Reduced<ExtremeGradient>));
extern constinit const OpDef kReduceMean = ReduceOp("reduce_mean", "The arithmetic mean; integers are rounded toward zero.", EvaluateDouble<SumStep, Mean>, KeptRule, Reduced<MeanGradient>);
extern constinit const OpDef kReduceMin = ExtremeOp(ReduceOp("reduce_min", "The least element; a NaN if there is one; without elements the greatest value of the type.", EvaluateExtreme<false>, PartialRule<Reduction::kMin>, Reduced<ExtremeGradient>));
extern constinit const OpDef kReduceProd = ReduceOp("reduce_prod", "The product.", EvaluateWide<ProdRow>, KeptRule, Reduced<ProdGradient>);
extern constinit const OpDef kReduceSum = ReduceOp("reduce_sum", "The sum.", EvaluateWide<SumRow>, PartialRule<Reduction::kSum>, Reduced<SumGradient>);
extern constinit const OpDef kReduceSumSquare = ReduceOp("reduce_sum_square", "The sum of squares.", EvaluateWide<SumSquareRow>, PartialRule<Reduction::kSum>, Reduced<SumSquareGradient>);
// clang-format on

}  // namespace partita
