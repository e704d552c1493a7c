// Resize gradient: every position passes its gradient to the elements that it
// blends, one axis after another.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
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
  const TensorType& dy = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kFloats));
  PARTITA_RETURN_IF_ERROR(CheckResample(op));
  const Shape sizes = ToShape(op.attr_ints("sizes"));
  for (int d = 0; d < dy.rank(); ++d) {
    if (sizes[d] > 0 || dy.dims[d] == 0) continue;
    return BadOp(op, absl::StrCat("size ", sizes[d], " in dimension ", d),
                 "elements that the resize could read", "correct sizes");
  }
  return results.Set(0, {dy.dtype, sizes, {}});
}

// The mapping of the resize: from x, which has the result's extents, to dy.
AxisMap AxisOf(const OpView& op, int dim) {
  return MapOf(op, dim, op.attr_ints("sizes")[dim],
               op.operand_type(0).dims[dim]);
}

std::vector<double> GiveBack(const OpView& op, const AxisMap& map,
                             const AxisLines& lines,
                             const std::vector<double>& dy) {
  std::vector<double> dx(lines.outer * map.from * lines.inner, 0);
  for (int64_t i = 0; i < map.to; ++i) {
    const Sample sample = SampleAt(op, map, i);
    for (int64_t o = 0; o < lines.outer; ++o) {
      const double* from = dy.data() + (o * map.to + i) * lines.inner;
      for (int n = 0; n < 4; ++n) {
        if (sample.weight[n] == 0) continue;
        double* to = dx.data() + (o * map.from + sample.index[n]) * lines.inner;
        for (int64_t k = 0; k < lines.inner; ++k) {
          to[k] += sample.weight[n] * from[k];
        }
      }
    }
  }
  return dx;
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  if (in[0].type().num_elements() == 0) return absl::OkStatus();
  std::vector<double> values = ToDoubles(in[0]);
  Shape dims = in[0].type().dims;
  for (int d = 0; d < in[0].type().rank(); ++d) {
    const AxisMap map = AxisOf(op, d);
    if (IsIdentity(map)) continue;
    values = GiveBack(op, map, AxisLines(dims, d), values);
    dims[d] = map.from;
  }
  FromDoubles(values, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const double taps = op.attr_string("mode") == "nearest"  ? 1
                      : op.attr_string("mode") == "linear" ? 8
                                                           : 32;
  return {.flops = taps * op.operand_type(0).num_elements(),
          .bytes = BytesAccessedOnce(op)};
}

// The op is linear: its adjoint is the resize.
absl::Status Gradient(GradBuilder& b) {
  b.Yield(0, Apply(kResize, {b.grad(0)}, BackToOperand(b.op())));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({3, 2, 7, 8})}, {{"sizes", Ints{3, 2, 4, 5}}, {"mode", "linear"}}},
      {{F32({3, 2, 7, 8})},
       {{"sizes", Ints{3, 2, 4, 5}}, {"nearest", "floor"}}},
  };
}

}  // namespace

extern constinit const OpDef kResizeGradient = {
    .name = "resize_gradient",
    .doc =
        "The gradient of a resize with respect to its operand, which has these "
        "sizes, where dy is the gradient of its result.",
    .operands = {{{"dy"}}},
    .attrs = kResampleAttrs,
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .gradient = Gradient,
    .cost = EstimateCost,
    .dimension_rule = ResampleRule,
    .shard_attributes = ResampleShards,
    .samples = Samples,
};

}  // namespace partita
