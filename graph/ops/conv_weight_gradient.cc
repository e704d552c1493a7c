// The gradient of a convolution with respect to its filters: each weight sums
// products of the elements at its tap and the gradients of their positions.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/ops/conv_gradient.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/window.h"

namespace partita {
namespace {

absl::Status CheckOperands(const OpView& op) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 3));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 1, x.rank(), x.rank()));
  PARTITA_RETURN_IF_ERROR(ExpectPerDimension(op, "kernel", x.rank() - 2));
  const int64_t groups = op.attr_int("groups");
  const int64_t filters = op.operand_type(1).dims[1];
  if (groups < 1 || x.dims[1] % groups != 0 || filters % groups != 0) {
    return BadOp(op, absl::StrCat("groups ", groups),
                 absl::StrCat("a divisor of ", x.dims[1], " channels and ",
                              filters, " filters"),
                 "correct groups");
  }
  return absl::OkStatus();
}

// Fewer positions than fit are valid: a transposed convolution with output
// padding has them.
absl::Status CheckPositions(const OpView& op, const Window& fitting) {
  const TensorType& x = op.operand_type(0);
  const TensorType& dy = op.operand_type(1);
  bool agrees = dy.dims[0] == x.dims[0];
  for (int d = 0; d < fitting.rank(); ++d) {
    agrees = agrees && Spatial(dy)[d] <= fitting.small[d];
  }
  if (agrees) return absl::OkStatus();
  return BadOp(op, Describe(op, 1),
               absl::StrCat("the extent ", x.dims[0],
                            " in dimension 0 and no more positions than the "
                            "window has on ",
                            Describe(op, 0)),
               "correct the window's attributes");
}

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckOperands(op));
  const TensorType& x = op.operand_type(0);
  PARTITA_ASSIGN_OR_RETURN(Window window,
                           ReadWindow(op, op.attr_ints("kernel")));
  PARTITA_RETURN_IF_ERROR(SlideOver(op, Spatial(x), {}, window));
  PARTITA_RETURN_IF_ERROR(CheckPositions(op, window));
  Shape dims = {op.operand_type(1).dims[1], x.dims[1] / op.attr_int("groups")};
  dims.insert(dims.end(), window.kernel.begin(), window.kernel.end());
  return results.Set(0, {x.dtype, dims, {}});
}

Window WindowOfOp(const OpView& op) {
  return WindowOf(op, op.attr_ints("kernel"), Spatial(op.operand_type(0)),
                  Spatial(op.operand_type(1)));
}

// Combines one plane of x with one of dy, for each tap.
template <typename W>
void AddProducts(absl::Span<const Tap> taps, int64_t step, const W* x,
                 const W* dy, W* filter) {
  for (const Tap& tap : taps) {
    W sum = 0;
    for (const TapLine& line : tap.lines) {
      for (int64_t i = 0; i < line.count; ++i) {
        sum += x[line.large + i * step] * dy[line.small + i];
      }
    }
    filter[tap.index] += sum;
  }
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const Window window = WindowOfOp(op);
  const std::vector<Tap> taps = TapsOf(window);
  const Shape& w = out[0].type().dims;
  const int64_t channels = in[0].type().dims[1];
  const int64_t group = w[0] / op.attr_int("groups");
  const int64_t large = Product(window.large);
  const int64_t small = Product(window.small);
  const int64_t kernel = Product(window.kernel);
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const std::vector<Wide<T>> x = WidenAll<T>(in[0]);
    const std::vector<Wide<T>> dy = WidenAll<T>(in[1]);
    std::vector<Wide<T>> sums(out[0].type().num_elements(), 0);
    for (int64_t n = 0; n < in[0].type().dims[0]; ++n) {
      for (int64_t o = 0; o < w[0]; ++o) {
        const int64_t first = n * channels + o / group * w[1];
        for (int64_t c = 0; c < w[1]; ++c) {
          AddProducts(taps, TapStep(window), x.data() + (first + c) * large,
                      dy.data() + (n * w[0] + o) * small,
                      sums.data() + (o * w[1] + c) * kernel);
        }
      }
    }
    absl::Span<T> result = out[0].data<T>();
    for (size_t i = 0; i < sums.size(); ++i) result[i] = Narrow<T>(sums[i]);
  });
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const TensorType& dy = op.operand_type(1);
  const TensorType& w = op.result_type(0);
  return {.flops = 2.0 * dy.num_elements() * w.dims[1] * Product(Spatial(w)),
          .bytes = BytesAccessedOnce(op)};
}

// [n gc s...], [n go t...] -> [go c k...]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const int64_t groups = op.attr_int("groups");
  const int n = rule.Reduced("n", op.operand_type(0).dims[0], Reduction::kSum);
  const int g = rule.Kept("g", groups);
  const int c = rule.Kept("c", op.result_type(0).dims[1]);
  const int o = rule.Kept("o", op.result_type(0).dims[0] / groups);
  rule.Operand(0, 0, n).Operand(0, 1, g).Operand(0, 1, c);
  rule.Operand(1, 0, n).Operand(1, 1, g).Operand(1, 1, o);
  rule.Result(0, 0, g).Result(0, 0, o).Result(0, 1, c);
  return rule.Finish();
}

// The op is linear in both: <g, dw(x, dy)> = <conv(x, g), dy>.
absl::Status Gradient(GradBuilder& b) {
  if (b.needs(0)) {
    b.Yield(0, ConvBack(b, WindowOfOp(b.op()), b.operand(1), b.grad(0)));
  }
  if (b.needs(1)) {
    b.Yield(1, ConvForth(b, b.operand(0), b.grad(0), b.operand(1).dims()));
  }
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({3, 4, 9, 8}), F32({3, 6, 5, 8})},
       {{"kernel", Ints{3, 2}},
        {"strides", Ints{2, 1}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 0}}}},
      {{F32({2, 4, 11}), F32({2, 6, 2})},
       {{"kernel", Ints{3}},
        {"groups", 2},
        {"strides", Ints{3}},
        {"dilations", Ints{2}}}},
  };
}

}  // namespace

extern constinit const OpDef kConvWeightGradient = {
    .name = "conv_weight_gradient",
    .doc =
        "The gradient of a convolution with respect to its filters, from x [n, "
        "channels, spatial...] and the gradient dy [n, filters, positions...] "
        "of its result.",
    .operands = {{{"x"}, {"dy"}}},
    .attrs = {{RequiredAttr("kernel", AttributeKind::kInts),
               IntsAttr("strides"), IntsAttr("dilations"),
               IntsAttr("pads_before"), IntsAttr("pads_after"),
               IntAttr("groups", 1)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .shard_attributes = ShardGroups,
    .samples = Samples,
};

}  // namespace partita
