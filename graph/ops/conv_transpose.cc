// Transposed convolution: each operand element adds a filter, scaled by it, to
// a window of the result.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/conv_gradient.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/planes.h"
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
  const TensorType& w = op.operand_type(1);
  const int64_t groups = op.attr_int("groups");
  if (groups < 1 || x.dims[1] % groups != 0) {
    return BadExtents(op, absl::StrCat("groups ", groups),
                      absl::StrCat("a divisor of ", x.dims[1], " channels"),
                      "correct groups");
  }
  if (w.dims[0] != x.dims[1]) {
    return BadExtents(
        op, Describe(op, 1),
        absl::StrCat(x.dims[1], " in dimension 0: the channels of ",
                     Describe(op, 0)),
        "correct the weights");
  }
  if (w.dims[1] > kMaxTensorBytes / groups) {
    return BadOp(op, absl::StrCat("groups ", groups), "fewer groups",
                 "correct groups");
  }
  return op.num_operands() == 3 ? ExpectDims(op, 2, {w.dims[1] * groups})
                                : absl::OkStatus();
}

absl::StatusOr<int64_t> ResultExtent(const OpView& op, const Window& w, int d) {
  const int64_t extent = Spatial(op.operand_type(0))[d];
  const std::vector<int64_t>& more = op.attr_ints("output_padding");
  const int64_t extra = more.empty() ? 0 : more[d];
  const int64_t most = kMaxTensorBytes / w.strides[d];
  if (extent > most || extra < 0 || extra > kMaxTensorBytes) {
    return BadExtents(op,
                      absl::StrCat("extent ", extent, ", stride ", w.strides[d],
                                   " and output_padding ", extra,
                                   " in spatial dimension ", d),
                      "a result that fits", "correct the attributes");
  }
  const int64_t spread = extent == 0 ? 0 : (extent - 1) * w.strides[d];
  const int64_t result =
      spread + extra + w.Extent(d) - w.before[d] - w.after[d];
  if (result >= 0) return result;
  return BadExtents(op, absl::StrCat("pads ", w.before[d], " and ", w.after[d]),
                    absl::StrCat("at most ", spread + extra + w.Extent(d),
                                 " in spatial dimension ", d),
                    "lower the pads");
}

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckOperands(op));
  const TensorType& x = op.operand_type(0);
  const TensorType& w = op.operand_type(1);
  PARTITA_ASSIGN_OR_RETURN(const Window window, ReadWindow(op, Spatial(w)));
  if (!op.attr_ints("output_padding").empty()) {
    PARTITA_RETURN_IF_ERROR(
        ExpectPerDimension(op, "output_padding", window.rank()));
  }
  Shape dims = {x.dims[0], w.dims[1] * op.attr_int("groups")};
  for (int d = 0; d < window.rank(); ++d) {
    PARTITA_ASSIGN_OR_RETURN(const int64_t extent, ResultExtent(op, window, d));
    dims.push_back(extent);
  }
  return results.Set(0, {x.dtype, dims, {}});
}

// The planes of a group that contribute to one plane of the result.
template <typename W>
struct Spread {
  absl::Span<const Tap> taps;
  int64_t step;
  int64_t plane_size;
  int64_t channels;       // of the group
  int64_t filter_stride;  // from one channel's filter to the next

  void Add(const W* planes, const W* filters, W* sums) const {
    for (int64_t c = 0; c < channels; ++c) {
      const W* plane = planes + c * plane_size;
      for (const Tap& tap : taps) {
        const W weight = filters[c * filter_stride + tap.index];
        for (const TapLine& line : tap.lines) {
          for (int64_t i = 0; i < line.count; ++i) {
            sums[line.large + i * step] += weight * plane[line.small + i];
          }
        }
      }
    }
  }
};

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const TensorType& x_type = in[0].type();
  const TensorType& w_type = in[1].type();
  const Window window =
      WindowOf(op, Spatial(w_type), Spatial(out[0].type()), Spatial(x_type));
  const std::vector<Tap> taps = TapsOf(window);
  const int64_t filters = w_type.dims[1];  // of a group
  const int64_t channels = x_type.dims[1] / op.attr_int("groups");
  const int64_t kernel = Product(window.kernel);
  const int64_t small = Product(window.small);
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    using W = Wide<T>;
    const std::vector<W> x = WidenAll<T>(in[0]);
    const std::vector<W> w = WidenAll<T>(in[1]);
    const Spread<W> spread = {taps, TapStep(window), small, channels,
                              filters * kernel};
    SumPlanes<T>(in, out[0], [&](int64_t n, int64_t o, W* sums) {
      const int64_t first = o / filters * channels;
      spread.Add(x.data() + (n * x_type.dims[1] + first) * small,
                 w.data() + (first * filters + o % filters) * kernel, sums);
    });
  });
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const TensorType& x = op.operand_type(0);
  const TensorType& w = op.operand_type(1);
  return {.flops = 2.0 * x.num_elements() * w.dims[1] * Product(Spatial(w)),
          .bytes = 1.0 * x.RowMajor().num_bytes() + w.RowMajor().num_bytes() +
                   op.result_type(0).RowMajor().num_bytes()};
}

// [n gc s...], [gc o k...], [go] -> [n go t...]. With a bias the channels are
// whole, as in conv.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const bool biased = op.num_operands() == 3;
  const int64_t groups = op.attr_int("groups");
  const int64_t channels = op.operand_type(0).dims[1] / groups;
  rule.Keep("n", 0, 0);
  const int g = rule.Kept("g", groups);
  const int o = rule.Kept("o", op.operand_type(1).dims[1]);
  const int c = biased ? rule.Whole("c", channels)
                       : rule.Reduced("c", channels, Reduction::kSum);
  rule.Operand(0, 1, g).Operand(0, 1, c);
  rule.Operand(1, 0, g).Operand(1, 0, c).Operand(1, 1, o);
  rule.Result(0, 1, g).Result(0, 1, o);
  if (biased) rule.Operand(2, 0, g).Operand(2, 0, o);
  return rule.Finish();
}

// Operand and result have the swapped roles of a convolution.
absl::Status Gradient(GradBuilder& b) {
  if (b.needs(0)) {
    b.Yield(0, ConvForth(b, b.grad(0), b.operand(1), b.operand(0).dims()));
  }
  if (b.needs(1)) {
    b.Yield(1, ConvFilters(b, b.grad(0), b.operand(0),
                           Spatial(b.op().operand_type(1))));
  }
  if (b.needs(2)) b.Yield(2, SumPerChannel(b.grad(0)));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({2, 4, 5, 4}), F32({4, 3, 3, 2})},
       {{"strides", Ints{2, 3}},
        {"pads_before", Ints{1, 0}},
        {"pads_after", Ints{0, 1}},
        {"output_padding", Ints{1, 0}}}},
      {{F32({2, 4, 5}), F32({4, 3, 3}), F32({6})},
       {{"groups", 2}, {"dilations", Ints{2}}}},
  };
}

}  // namespace

extern constinit const OpDef kConvTranspose = {
    .name = "conv_transpose",
    .doc =
        "Transposed convolution of x [n, channels, spatial...] with w "
        "[channels, filters in a group, spatial...], plus a bias.",
    .operands = {{{"x"}, {"w"}, {"bias", kOptional}}},
    .attrs = {{IntsAttr("strides"), IntsAttr("dilations"),
               IntsAttr("pads_before"), IntsAttr("pads_after"),
               IntsAttr("output_padding"), IntAttr("groups", 1)}},
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
