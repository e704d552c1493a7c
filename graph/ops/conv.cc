// Convolution: each result element is a sum of products over a window of the
// operand and over all channels of a group.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
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
  const TensorType& w = op.operand_type(1);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 3));
  PARTITA_RETURN_IF_ERROR(
      ExpectRank(op, 1, op.operand_type(0).rank(), op.operand_type(0).rank()));
  return op.num_operands() == 3 ? ExpectDims(op, 2, {w.dims[0]})
                                : absl::OkStatus();
}

absl::Status CheckGroups(const OpView& op) {
  const int64_t groups = op.attr_int("groups");
  const int64_t channels = op.operand_type(0).dims[1];
  const int64_t filters = op.operand_type(1).dims[0];
  if (groups < 1 || channels % groups != 0 || filters % groups != 0) {
    return BadExtents(op, absl::StrCat("groups ", groups),
                      absl::StrCat("a divisor of ", channels, " channels and ",
                                   filters, " filters"),
                      "correct groups or the weights");
  }
  if (op.operand_type(1).dims[1] == channels / groups) return absl::OkStatus();
  return BadExtents(op, Describe(op, 1),
                    absl::StrCat(channels / groups,
                                 " in dimension 1: the channels of a group of ",
                                 Describe(op, 0)),
                    "correct groups or the weights");
}

absl::Status Infer(const OpView& op, Types& results) {
  PARTITA_RETURN_IF_ERROR(CheckOperands(op));
  PARTITA_RETURN_IF_ERROR(CheckGroups(op));
  const TensorType& x = op.operand_type(0);
  const TensorType& w = op.operand_type(1);
  PARTITA_ASSIGN_OR_RETURN(Window window, ReadWindow(op, Spatial(w)));
  PARTITA_RETURN_IF_ERROR(SlideOver(op, Spatial(x), {}, window));
  Shape dims = {x.dims[0], w.dims[0]};
  dims.insert(dims.end(), window.small.begin(), window.small.end());
  return results.Set(0, {x.dtype, dims, {}});
}

Window WindowOfConv(const OpView& op) {
  return WindowOf(op, Spatial(op.operand_type(1)), Spatial(op.operand_type(0)),
                  Spatial(op.result_type(0)));
}

// The planes of a group that make one plane of the result.
template <typename W>
struct Filtering {
  absl::Span<const Tap> taps;
  int64_t step;
  int64_t channels;  // of the group
  int64_t plane_size;
  int64_t filter_size;

  void Add(const W* planes, const W* filter, W* sums) const {
    for (int64_t c = 0; c < channels; ++c) {
      for (const Tap& tap : taps) {
        AddTap(tap, filter[c * filter_size + tap.index],
               planes + c * plane_size, sums);
      }
    }
  }
  void AddTap(const Tap& tap, W weight, const W* plane, W* sums) const {
    for (const TapLine& line : tap.lines) {
      const W* from = plane + line.large;
      W* to = sums + line.small;
      if (step == 1) {  // a loop that compilers vectorize
        for (int64_t i = 0; i < line.count; ++i) to[i] += weight * from[i];
      } else {
        for (int64_t i = 0; i < line.count; ++i) {
          to[i] += weight * from[i * step];
        }
      }
    }
  }
};

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const Window window = WindowOfConv(op);
  const std::vector<Tap> taps = TapsOf(window);
  const int64_t filters = in[1].type().dims[0];
  const int64_t channels = in[1].type().dims[1];  // of a group
  const int64_t group = filters / op.attr_int("groups");
  const int64_t large = Product(window.large);
  const int64_t kernel = Product(window.kernel);
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    const std::vector<Wide<T>> x = WidenAll<T>(in[0]);
    const std::vector<Wide<T>> w = WidenAll<T>(in[1]);
    const Filtering<Wide<T>> filtering = {taps, TapStep(window), channels,
                                          large, kernel};
    SumPlanes<T>(in, out[0], [&](int64_t n, int64_t o, Wide<T>* sums) {
      const int64_t first = n * in[0].type().dims[1] + o / group * channels;
      filtering.Add(x.data() + first * large, w.data() + o * channels * kernel,
                    sums);
    });
  });
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const TensorType& w = op.operand_type(1);
  const TensorType& y = op.result_type(0);
  return {.flops = 2.0 * y.num_elements() * w.dims[1] * Product(Spatial(w)),
          .bytes = 1.0 * op.operand_type(0).RowMajor().num_bytes() +
                   w.RowMajor().num_bytes() + y.RowMajor().num_bytes()};
}

// [n gc s...], [go c k...], [go] -> [n go s...]. With a bias the channels are
// whole, as every partial sum would add it.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const bool biased = op.num_operands() == 3;
  const int64_t groups = op.attr_int("groups");
  const Window window = WindowOfConv(op);
  const int64_t channels = op.operand_type(1).dims[1];
  rule.Keep("n", 0, 0);
  const int g = rule.Kept("g", groups);
  const int o = rule.Kept("o", op.operand_type(1).dims[0] / groups);
  const int c = biased ? rule.Whole("c", channels)
                       : rule.Reduced("c", channels, Reduction::kSum);
  rule.Operand(0, 1, g).Operand(0, 1, c);
  rule.Operand(1, 0, g).Operand(1, 0, o).Operand(1, 1, c);
  rule.Result(0, 1, g).Result(0, 1, o);
  if (biased) rule.Operand(2, 0, g).Operand(2, 0, o);
  for (int d = 0; d < window.rank(); ++d) AddHalo(window, 2, d, rule);
  return rule.Finish();
}

void ShardAttributes(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  ShardGroups(op, factor, begin, end, attributes);
  if (Rule(op).factors[factor].kind != Factor::Kind::kHalo) return;
  SetShardPads(op, WindowOfConv(op), ResultDimension(op, factor) - 2, begin,
               end, attributes);
}

// Every position passes its gradient to the elements of its window.
absl::Status Gradient(GradBuilder& b) {
  if (b.needs(0)) {
    b.Yield(0, ConvBack(b, WindowOfConv(b.op()), b.grad(0), b.operand(1)));
  }
  if (b.needs(1)) {
    b.Yield(1, ConvFilters(b, b.operand(0), b.grad(0),
                           Spatial(b.op().operand_type(1))));
  }
  if (b.needs(2)) b.Yield(2, SumPerChannel(b.grad(0)));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({2, 4, 9, 8}), F32({6, 4, 3, 3})},
       {{"strides", Ints{2, 1}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 0}}}},
      {{F32({2, 4, 9, 8}), F32({6, 2, 3, 2}), F32({6})},
       {{"groups", 2}, {"dilations", Ints{2, 3}}, {"pads_before", Ints{3, 0}}}},
      {{F32({1, 4, 11}), F32({4, 1, 4}), F32({4})},
       {{"groups", 4}, {"strides", Ints{3}}, {"pads_after", Ints{5}}}},
      {{I32({1, 3, 5, 5}), I32({3, 3, 1, 1})}},
      {{F32({1, 2, 3}), F32({2, 2, 1})}, {{"pads_before", Ints{4}}}},
  };
}

}  // namespace

extern constinit const OpDef kConv = {
    .name = "conv",
    .doc =
        "Convolution of x [n, channels, spatial...] with filters w [filters, "
        "channels in a group, spatial...], plus a bias for each filter.",
    .operands = {{{"x"}, {"w"}, {"bias", kOptional}}},
    .attrs = {{IntsAttr("strides"), IntsAttr("dilations"),
               IntsAttr("pads_before"), IntsAttr("pads_after"),
               IntAttr("groups", 1)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .shard_attributes = ShardAttributes,
    .samples = Samples,
};

}  // namespace partita
