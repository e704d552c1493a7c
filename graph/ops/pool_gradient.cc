// Gradients of pools: each position passes its gradient to its window; a max
// pool to the greatest element, an average pool to all elements equally.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/window.h"

namespace partita {
namespace {

// dy has a position for each window over `sizes`, the spatial extents of x.
absl::Status CheckPositions(const OpView& op, int dy,
                            absl::Span<const int64_t> sizes) {
  PARTITA_RETURN_IF_ERROR(
      ExpectPerDimension(op, "kernel", static_cast<int>(sizes.size())));
  PARTITA_ASSIGN_OR_RETURN(Window window,
                           ReadWindow(op, op.attr_ints("kernel")));
  PARTITA_RETURN_IF_ERROR(
      SlideOver(op, sizes, op.attr_ints("ceil_extra"), window));
  const TensorType& planes = op.operand_type(0);
  Shape dims = {planes.dims[0], planes.dims[1]};
  dims.insert(dims.end(), window.small.begin(), window.small.end());
  return ExpectDims(op, dy, dims);
}

absl::Status InferMax(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 3));
  PARTITA_RETURN_IF_ERROR(CheckPositions(op, 1, Spatial(x)));
  return results.Set(0, x.RowMajor());
}

absl::Status InferAverage(const OpView& op, Types& results) {
  TensorType x = op.operand_type(0).RowMajor();
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 3));
  PARTITA_RETURN_IF_ERROR(ExpectPerDimension(op, "sizes", x.rank() - 2));
  const std::vector<int64_t>& sizes = op.attr_ints("sizes");
  std::copy(sizes.begin(), sizes.end(), x.dims.begin() + 2);
  // Checked first, as it bounds the sizes that are added below.
  PARTITA_RETURN_IF_ERROR(results.Set(0, x));
  return CheckPositions(op, 0, sizes);
}

Window WindowOfMax(const OpView& op) {
  return WindowOf(op, op.attr_ints("kernel"), Spatial(op.operand_type(0)),
                  Spatial(op.operand_type(1)));
}
Window WindowOfAverage(const OpView& op) {
  return WindowOf(op, op.attr_ints("kernel"), op.attr_ints("sizes"),
                  Spatial(op.operand_type(0)));
}

// The position of the greatest element of each window, of equals the first (a
// NaN counts as the greatest); -1 for a window without elements.
std::vector<int64_t> GreatestOf(absl::Span<const Tap> taps, int64_t step,
                                const double* x, int64_t small) {
  std::vector<int64_t> greatest(small, -1);
  ForEachElement(taps, step, [&](int64_t at, int64_t position) {
    int64_t& best = greatest[position];
    if (best < 0 || x[at] > x[best] || x[at] != x[at]) best = at;
  });
  return greatest;
}

absl::Status EvaluateMax(const OpView& op, absl::Span<const HostTensor> in,
                         absl::Span<HostTensor> out) {
  const Window window = WindowOfMax(op);
  const std::vector<Tap> taps = TapsOf(window);
  const int64_t large = Product(window.large);
  const int64_t small = Product(window.small);
  const std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> dy = ToDoubles(in[1]);
  std::vector<double> dx(x.size(), 0);
  const int64_t planes = in[0].type().dims[0] * in[0].type().dims[1];
  for (int64_t p = 0; p < planes; ++p) {
    const std::vector<int64_t> greatest =
        GreatestOf(taps, TapStep(window), x.data() + p * large, small);
    for (int64_t i = 0; i < small; ++i) {
      if (greatest[i] >= 0) dx[p * large + greatest[i]] += dy[p * small + i];
    }
  }
  FromDoubles(dx, out[0]);
  return absl::OkStatus();
}

absl::Status EvaluateAverage(const OpView& op, absl::Span<const HostTensor> in,
                             absl::Span<HostTensor> out) {
  const Window window = WindowOfAverage(op);
  const std::vector<Tap> taps = TapsOf(window);
  const int64_t step = TapStep(window);
  const std::vector<double> counts =
      TapCounts(window, op.attr_bool("count_include_pad"));
  const int64_t large = Product(window.large);
  const int64_t small = Product(window.small);
  const std::vector<double> dy = ToDoubles(in[0]);
  std::vector<double> dx(out[0].type().num_elements(), 0);
  const int64_t planes = in[0].type().dims[0] * in[0].type().dims[1];
  for (int64_t p = 0; p < planes; ++p) {
    ForEachElement(taps, step, [&](int64_t at, int64_t position) {
      dx[p * large + at] += dy[p * small + position] / counts[position];
    });
  }
  FromDoubles(dx, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  double flops = op.operand_type(op.num_operands() - 1).num_elements();
  for (int64_t k : op.attr_ints("kernel")) flops *= k;
  return {.flops = flops, .bytes = BytesAccessedOnce(op)};
}

// [n c s...]... -> [n c t...]: windows overlap, so planes are whole.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const Shape& dims = op.operand_type(0).dims;
  const int n = rule.Kept("n", dims[0]);
  const int c = rule.Kept("c", dims[1]);
  for (int i = 0; i < op.num_operands(); ++i) {
    rule.Operand(i, 0, n).Operand(i, 1, c);
  }
  rule.Result(0, 0, n).Result(0, 1, c);
  return rule.Finish();
}

// The op is linear: its adjoint is the pool.
absl::Status AverageGradient(GradBuilder& b) {
  Attributes attributes = b.op().node().attributes;
  attributes.Remove("sizes");
  b.Yield(0, Apply(kAvgPool, {b.grad(0)}, std::move(attributes)));
  return b.status();
}

std::vector<OpSample> MaxPoolGradientSamples() {
  return {
      {{F32({2, 3, 9, 8}), F32({2, 3, 5, 4})},
       {{"kernel", Ints{3, 2}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 0}},
        {"pads_after", Ints{1, 0}}}},
      {{F32({1, 2, 8}), F32({1, 2, 4})},
       {{"kernel", Ints{3}}, {"strides", Ints{2}}, {"ceil_extra", Ints{1}}}},
  };
}

std::vector<OpSample> AvgPoolGradientSamples() {
  return {{{F32({2, 3, 5, 4})},
           {{"kernel", Ints{3, 3}},
            {"sizes", Ints{9, 8}},
            {"strides", Ints{2, 2}},
            {"pads_before", Ints{1, 1}},
            {"pads_after", Ints{1, 1}}}}};
}

}  // namespace

extern constinit const OpDef kMaxPoolGradient = {
    .name = "max_pool_gradient",
    .doc =
        "The gradient of a max pool with respect to x, where dy is the "
        "gradient of its result; of equal elements the first gets it.",
    .operands = {{{"x"}, {"dy"}}},
    .attrs = {{RequiredAttr("kernel", AttributeKind::kInts),
               IntsAttr("strides"), IntsAttr("dilations"),
               IntsAttr("pads_before"), IntsAttr("pads_after"),
               IntsAttr("ceil_extra")}},
    .tolerance = Tolerance::kReduction,
    .infer = InferMax,
    .eval = EvaluateMax,
    .no_gradient = "not implemented: the second derivative of max_pool",
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = MaxPoolGradientSamples,
};

extern constinit const OpDef kAvgPoolGradient = {
    .name = "avg_pool_gradient",
    .doc =
        "The gradient of an average pool with respect to its operand, which "
        "has these spatial sizes, where dy is the gradient of its result.",
    .operands = {{{"dy"}}},
    .attrs = {{RequiredAttr("kernel", AttributeKind::kInts),
               RequiredAttr("sizes", AttributeKind::kInts), IntsAttr("strides"),
               IntsAttr("dilations"), IntsAttr("pads_before"),
               IntsAttr("pads_after"), BoolAttr("count_include_pad", false),
               IntsAttr("ceil_extra")}},
    .tolerance = Tolerance::kReduction,
    .infer = InferAverage,
    .eval = EvaluateAverage,
    .gradient = AverageGradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = AvgPoolGradientSamples,
};

}  // namespace partita
