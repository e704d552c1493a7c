// Max and average pooling over windows of the spatial dimensions.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
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

absl::Status InferPool(const OpView& op, int accepted, DType result,
                       Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, accepted));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 3));
  PARTITA_RETURN_IF_ERROR(ExpectPerDimension(op, "kernel", x.rank() - 2));
  PARTITA_ASSIGN_OR_RETURN(Window window,
                           ReadWindow(op, op.attr_ints("kernel")));
  PARTITA_RETURN_IF_ERROR(
      SlideOver(op, Spatial(x), op.attr_ints("ceil_extra"), window));
  Shape dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), window.small.begin(), window.small.end());
  return results.Set(0, {result, dims, {}});
}

template <int accepted>
absl::Status Infer(const OpView& op, Types& results) {
  return InferPool(op, accepted, op.operand_type(0).dtype, results);
}
absl::Status InferIndices(const OpView& op, Types& results) {
  return InferPool(op, kNumbers, DType::kI64, results);
}

Window WindowOfPool(const OpView& op) {
  return WindowOf(op, op.attr_ints("kernel"), Spatial(op.operand_type(0)),
                  Spatial(op.result_type(0)));
}

template <typename T>
T Lowest() {
  if constexpr (kIsFloat<T>) return -HUGE_VAL;
  return std::numeric_limits<T>::lowest();
}

// A NaN in the window gives NaN. A window without elements gives the least
// value of the type.
absl::Status EvaluateMax(const OpView& op, absl::Span<const HostTensor> in,
                         absl::Span<HostTensor> out) {
  const Window window = WindowOfPool(op);
  const std::vector<Tap> taps = TapsOf(window);
  const int64_t step = TapStep(window);
  const int64_t large = Product(window.large);
  const int64_t small = Product(window.small);
  const int64_t planes = in[0].type().dims[0] * in[0].type().dims[1];
  VisitDType(out[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    using E = Exact<T>;
    const T* x = reinterpret_cast<const T*>(in[0].bytes());
    T* y = reinterpret_cast<T*>(out[0].bytes());
    std::vector<E> best;
    for (int64_t p = 0; p < planes; ++p, x += large, y += small) {
      best.assign(small, static_cast<E>(Lowest<T>()));
      ForEachElement(taps, step, [&](int64_t at, int64_t position) {
        const E v = static_cast<E>(x[at]);
        E& top = best[position];
        if (v > top || v != v) top = v;
      });
      for (int64_t i = 0; i < small; ++i) y[i] = Narrow<T>(best[i]);
    }
  });
  return absl::OkStatus();
}

// The first of equals; a NaN counts as the greatest. A window without elements
// gives 0.
absl::Status EvaluateIndices(const OpView& op, absl::Span<const HostTensor> in,
                             absl::Span<HostTensor> out) {
  const Window window = WindowOfPool(op);
  const std::vector<Tap> taps = TapsOf(window);
  const int64_t step = TapStep(window);
  const int64_t large = Product(window.large);
  const int64_t small = Product(window.small);
  const int64_t planes = in[0].type().dims[0] * in[0].type().dims[1];
  int64_t* y = reinterpret_cast<int64_t*>(out[0].bytes());
  VisitDType(in[0].type().dtype, [&]<typename T>(TypeTag<T>) {
    using E = Exact<T>;
    const T* x = reinterpret_cast<const T*>(in[0].bytes());
    for (int64_t p = 0; p < planes; ++p, x += large, y += small) {
      std::fill_n(y, small, int64_t{-1});
      ForEachElement(taps, step, [&](int64_t at, int64_t position) {
        int64_t& best = y[position];
        const E v = static_cast<E>(x[at]);
        const E top = static_cast<E>(x[std::max<int64_t>(best, 0)]);
        if (best < 0 || v > top || (v != v && top == top)) best = at;
      });
      for (int64_t i = 0; i < small; ++i) y[i] = std::max<int64_t>(y[i], 0);
    }
  });
  return absl::OkStatus();
}

// A window without counted elements gives 0.
absl::Status EvaluateAverage(const OpView& op, absl::Span<const HostTensor> in,
                             absl::Span<HostTensor> out) {
  const Window window = WindowOfPool(op);
  const std::vector<Tap> taps = TapsOf(window);
  const int64_t step = TapStep(window);
  const std::vector<double> divisors =
      TapCounts(window, op.attr_bool("count_include_pad"));
  const int64_t large = Product(window.large);
  const int64_t small = Product(window.small);
  const std::vector<double> x = ToDoubles(in[0]);
  std::vector<double> y(out[0].type().num_elements());
  const int64_t planes = in[0].type().dims[0] * in[0].type().dims[1];
  for (int64_t p = 0; p < planes; ++p) {
    const double* plane = x.data() + p * large;
    double* sums = y.data() + p * small;
    ForEachElement(taps, step, [&](int64_t at, int64_t position) {
      sums[position] += plane[at];
    });
    for (int64_t i = 0; i < small; ++i) {
      sums[i] = divisors[i] == 0 ? 0 : sums[i] / divisors[i];
    }
  }
  FromDoubles(y, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  double flops = op.result_type(0).num_elements();
  for (int64_t k : op.attr_ints("kernel")) flops *= k;
  return {.flops = flops, .bytes = BytesAccessedOnce(op)};
}

// [n c s...] -> [n c s...]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const Window window = WindowOfPool(op);
  rule.Keep("n", 0, 0);
  rule.Keep("c", 1, 1);
  for (int d = 0; d < window.rank(); ++d) AddHalo(window, 2, d, rule);
  return rule.Finish();
}

// Positions count in the whole plane.
DimensionRule PlanesRule(const OpView& op) {
  RuleBuilder rule(op);
  rule.Keep("n", 0, 0);
  rule.Keep("c", 1, 1);
  return rule.Finish();
}

// Elements that ceil_extra adds do not count in a shard either: the shard's
// pads beyond pads_after move to its ceil_extra.
void MoveUncounted(const OpView& op, const Window& window, int dim, int64_t end,
                   Attributes& attributes) {
  const std::vector<int64_t>& whole = op.attr_ints("ceil_extra");
  if (whole.empty()) return;
  const int64_t reach =
      (end - 1) * window.strides[dim] - window.before[dim] + window.Extent(dim);
  const int64_t uncounted =
      std::max<int64_t>(0, reach - (window.large[dim] + window.after[dim]));
  std::vector<int64_t> extra(whole.begin(), whole.end());
  extra[dim] = uncounted;
  attributes.Set("ceil_extra", extra);
  const auto* pads = attributes.Find("pads_after");
  std::vector<int64_t> after = std::get<std::vector<int64_t>>(*pads);
  after[dim] -= std::min(uncounted, after[dim]);
  attributes.Set("pads_after", after);
}

void ShardAttributes(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  if (Rule(op).factors[factor].kind != Factor::Kind::kHalo) return;
  const Window window = WindowOfPool(op);
  const int dim = ResultDimension(op, factor) - 2;
  SetShardPads(op, window, dim, begin, end, attributes);
  MoveUncounted(op, window, dim, end, attributes);
}

absl::Status MaxGradient(GradBuilder& b) {
  b.Yield(0, Apply(kMaxPoolGradient, {b.operand(0), b.grad(0)},
                   b.op().node().attributes));
  return b.status();
}

absl::Status AverageGradient(GradBuilder& b) {
  const absl::Span<const int64_t> sizes = Spatial(b.op().operand_type(0));
  Attributes attributes = b.op().node().attributes;
  attributes.Set("sizes", std::vector<int64_t>(sizes.begin(), sizes.end()));
  b.Yield(0, Apply(kAvgPoolGradient, {b.grad(0)}, std::move(attributes)));
  return b.status();
}

std::vector<OpSample> MaxPoolSamples() {
  return {
      {{F32({2, 3, 9, 8})},
       {{"kernel", Ints{3, 2}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 0}},
        {"pads_after", Ints{1, 0}}}},
      {{F32({1, 2, 8})},
       {{"kernel", Ints{3}}, {"strides", Ints{2}}, {"ceil_extra", Ints{1}}}},
      {{I32({2, 3, 9})}, {{"kernel", Ints{3}}, {"dilations", Ints{2}}}},
  };
}

std::vector<OpSample> MaxPoolIndicesSamples() {
  return {{{F32({2, 3, 9, 8})},
           {{"kernel", Ints{3, 2}},
            {"strides", Ints{2, 2}},
            {"pads_before", Ints{1, 0}},
            {"pads_after", Ints{1, 0}}}}};
}

std::vector<OpSample> AvgPoolSamples() {
  return {
      {{F32({2, 3, 9, 8})},
       {{"kernel", Ints{3, 3}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 1}}}},
      {{F32({2, 3, 9, 8})},
       {{"kernel", Ints{3, 3}},
        {"strides", Ints{2, 2}},
        {"pads_before", Ints{1, 1}},
        {"pads_after", Ints{1, 1}},
        {"ceil_extra", Ints{0, 1}},
        {"count_include_pad", true}}},
      {{F32({1, 2, 8})},
       {{"kernel", Ints{3}}, {"strides", Ints{2}}, {"ceil_extra", Ints{1}}}},
  };
}

}  // namespace

extern constinit const OpDef kMaxPool = {
    .name = "max_pool",
    .doc =
        "The greatest of each window of x [n, channels, spatial...]; "
        "ceil_extra extends the end, like pads.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("kernel", AttributeKind::kInts),
               IntsAttr("strides"), IntsAttr("dilations"),
               IntsAttr("pads_before"), IntsAttr("pads_after"),
               IntsAttr("ceil_extra")}},
    .infer = Infer<kNumbers>,
    .eval = EvaluateMax,
    .gradient = MaxGradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .shard_attributes = ShardAttributes,
    .samples = MaxPoolSamples,
};

extern constinit const OpDef kMaxPoolIndices = {
    .name = "max_pool_indices",
    .doc =
        "The row-major position, in its plane of x [n, channels, spatial...], "
        "of the greatest element of each window; of equals, the first.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("kernel", AttributeKind::kInts),
               IntsAttr("strides"), IntsAttr("dilations"),
               IntsAttr("pads_before"), IntsAttr("pads_after"),
               IntsAttr("ceil_extra")}},
    .infer = InferIndices,
    .eval = EvaluateIndices,
    .no_gradient = "the result is a position or an extent",
    .cost = EstimateCost,
    .dimension_rule = PlanesRule,
    .samples = MaxPoolIndicesSamples,
};

extern constinit const OpDef kAvgPool = {
    .name = "avg_pool",
    .doc =
        "The mean of each window of x [n, channels, spatial...]; pads count "
        "only with count_include_pad, and ceil_extra, which extends the end, "
        "never counts.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("kernel", AttributeKind::kInts),
               IntsAttr("strides"), IntsAttr("dilations"),
               IntsAttr("pads_before"), IntsAttr("pads_after"),
               BoolAttr("count_include_pad", false), IntsAttr("ceil_extra")}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer<kFloats>,
    .eval = EvaluateAverage,
    .gradient = AverageGradient,
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .shard_attributes = ShardAttributes,
    .samples = AvgPoolSamples,
};

}  // namespace partita
