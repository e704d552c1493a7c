// Resize: a tensor sampled at other positions, one axis after another.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/op_list.h"
#include "graph/ops/resample.h"
#include "graph/ops/sample_operands.h"
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(CheckResample(op));
  for (int d = 0; d < x.rank(); ++d) {
    if (x.dims[d] > 0 || op.attr_ints("sizes")[d] == 0) continue;
    return BadExtents(op, Describe(op, 0),
                      absl::StrCat("elements in dimension ", d),
                      "an empty dimension cannot be resized");
  }
  return results.Set(0, {x.dtype, ToShape(op.attr_ints("sizes")), {}});
}

AxisMap AxisOf(const OpView& op, int dim) {
  return MapOf(op, dim, op.operand_type(0).dims[dim],
               op.attr_ints("sizes")[dim]);
}

absl::Status EvaluateNearest(const OpView& op, const HostTensor& x,
                             HostTensor& y) {
  if (y.type().num_elements() == 0) return absl::OkStatus();
  std::vector<std::vector<int64_t>> sources;
  for (int d = 0; d < x.type().rank(); ++d) {
    const AxisMap map = AxisOf(op, d);
    std::vector<int64_t>& source = sources.emplace_back();
    for (int64_t i = 0; i < map.to; ++i) {
      source.push_back(NearestTo(op, map, i));
    }
  }
  CopyByIndex(x, sources, y);
  return absl::OkStatus();
}

// A neighbour with weight 0 is ignored, even if it is infinite.
double Weighted(const Sample& sample, const double* line, int64_t step) {
  double sum = 0;
  for (int n = 0; n < 4; ++n) {
    if (sample.weight[n] == 0) continue;
    sum += sample.weight[n] * line[sample.index[n] * step];
  }
  return sum;
}

// Rounding may leave a blend of integers just below the whole number that it
// is; it must not be truncated to the one before.
double WholeIfNear(double value) {
  const double whole = std::round(value);
  constexpr double kNear = 1e-6;
  return std::abs(value - whole) <= kNear * std::max(1.0, std::abs(whole))
             ? whole
             : value;
}

std::vector<double> ResizeAxis(const OpView& op, const AxisMap& map,
                               const AxisLines& lines,
                               const std::vector<double>& x) {
  std::vector<double> y(lines.outer * map.to * lines.inner);
  for (int64_t i = 0; i < map.to; ++i) {
    const Sample sample = SampleAt(op, map, i);
    for (int64_t o = 0; o < lines.outer; ++o) {
      const double* from = x.data() + o * map.from * lines.inner;
      double* to = y.data() + (o * map.to + i) * lines.inner;
      for (int64_t n = 0; n < lines.inner; ++n) {
        to[n] = Weighted(sample, from + n, lines.inner);
      }
    }
  }
  return y;
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  if (out[0].type().num_elements() == 0) return absl::OkStatus();
  if (op.attr_string("mode") == "nearest") {
    return EvaluateNearest(op, in[0], out[0]);
  }
  std::vector<double> values = ToDoubles(in[0]);
  Shape dims = in[0].type().dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    const AxisMap map = AxisOf(op, static_cast<int>(d));
    if (IsIdentity(map)) continue;
    values = ResizeAxis(op, map, AxisLines(dims, static_cast<int>(d)), values);
    dims[d] = map.to;
  }
  if (!IsFloat(out[0].type().dtype)) {
    for (double& value : values) value = WholeIfNear(value);
  }
  FromDoubles(values, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const double taps = op.attr_string("mode") == "nearest"  ? 0
                      : op.attr_string("mode") == "linear" ? 8
                                                           : 32;
  return {.flops = taps * op.result_type(0).num_elements(),
          .bytes = BytesAccessedOnce(op)};
}

// The same sampling, backward, over the operand's extents.
absl::Status Gradient(GradBuilder& b) {
  b.Yield(0, Apply(kResizeGradient, {b.grad(0)}, BackToOperand(b.op())));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({3, 2, 4, 5})}, {{"sizes", Ints{3, 2, 7, 8}}, {"mode", "linear"}}},
      {{F32({3, 2, 4, 5})},
       {{"sizes", Ints{3, 2, 8, 3}},
        {"mode", "cubic"},
        {"coordinates", "align_corners"}}},
      {{F32({3, 2, 4, 5})}, {{"sizes", Ints{3, 2, 8, 3}}}},
      {{I32({3, 2, 4, 5})},
       {{"sizes", Ints{3, 2, 8, 10}},
        {"scales", Floats{1, 1, 2, 2}},
        {"coordinates", "asymmetric"},
        {"nearest", "floor"}}},
  };
}

}  // namespace

extern constinit const OpDef kResize = {
    .name = "resize",
    .doc =
        "The operand sampled at the positions of another shape: the nearest "
        "element, or a linear or cubic blend of neighbours.",
    .operands = {{{"x"}}},
    .attrs = kResampleAttrs,
    .tolerance = Tolerance::kRounding,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = ResampleRule,
    .shard_attributes = ResampleShards,
    .samples = Samples,
};

}  // namespace partita
