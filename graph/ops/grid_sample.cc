// Grid sample: a tensor read at fractional positions that another operand
// gives.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/eval_numbers.h"
#include "graph/ops/grid_sampler.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_cost.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

absl::Status CheckGrid(const OpView& op) {
  const TensorType& x = op.operand_type(0);
  const TensorType& grid = op.operand_type(1);
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 1, x.rank(), x.rank()));
  const int64_t spatial = x.rank() - 2;
  if (grid.dims.back() != spatial || grid.dims[0] != x.dims[0]) {
    return BadExtents(
        op, Describe(op, 1),
        absl::StrCat(x.dims[0], " in dimension 0 and ", spatial,
                     " in the last one"),
        "give each position of the result a coordinate per spatial "
        "dimension");
  }
  for (int d = 2; d < x.rank(); ++d) {
    if (x.dims[d] > 0) continue;
    return BadExtents(op, Describe(op, 0),
                      absl::StrCat("elements in dimension ", d),
                      "an empty dimension cannot be sampled");
  }
  return absl::OkStatus();
}

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 0, kNumbers));
  PARTITA_RETURN_IF_ERROR(ExpectDType(op, 1, kFloats));
  PARTITA_RETURN_IF_ERROR(ExpectRank(op, 0, 3));
  PARTITA_RETURN_IF_ERROR(CheckGrid(op));
  PARTITA_RETURN_IF_ERROR(
      ExpectWord(op, "mode", {"linear", "nearest", "cubic"}));
  PARTITA_RETURN_IF_ERROR(
      ExpectWord(op, "padding", {"zeros", "border", "reflection"}));
  const Shape& grid = op.operand_type(1).dims;
  Shape dims = {x.dims[0], x.dims[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  return results.Set(0, {x.dtype, dims, {}});
}

absl::Status Evaluate(const OpView& op, absl::Span<const HostTensor> in,
                      absl::Span<HostTensor> out) {
  const GridSampler sampler(op);
  const Shape& dims = in[0].type().dims;
  const auto extents = absl::MakeConstSpan(dims).subspan(2);
  const int64_t plane = Product(extents);
  const int64_t positions =
      Product(absl::MakeConstSpan(out[0].type().dims).subspan(2));
  const std::vector<double> x = ToDoubles(in[0]);
  const std::vector<double> grid = ToDoubles(in[1]);
  std::vector<double> y(out[0].type().num_elements());
  std::vector<GridShare> shares;
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t p = 0; p < positions; ++p) {
      SetShares(sampler, grid.data() + (n * positions + p) * extents.size(),
                extents, shares);
      for (int64_t c = n * dims[1]; c < (n + 1) * dims[1]; ++c) {
        double sum = 0;
        for (const GridShare& share : shares) {
          // Elements with weight 0 may be infinite.
          if (share.weight == 0) continue;
          sum += share.weight * x[c * plane + share.offset];
        }
        y[c * positions + p] = sum;
      }
    }
  }
  FromDoubles(y, out[0]);
  return absl::OkStatus();
}

Cost EstimateCost(const OpView& op) {
  const double taps = GridSampler(op).taps();
  return {.flops = 2 * std::pow(taps, op.operand_type(0).rank() - 2) *
                   op.result_type(0).num_elements(),
          .bytes = BytesAccessedOnce(op)};
}

// [n c s...], [n o... r] -> [n c o...]
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const Shape& grid = op.operand_type(1).dims;
  const int n = rule.Kept("n", grid[0]);
  rule.Operand(0, 0, n).Operand(1, 0, n).Result(0, 0, n);
  rule.Keep("c", 1, 1);
  for (int d = 1; d + 1 < op.operand_type(1).rank(); ++d) {
    const int o = rule.Kept(absl::StrCat("o", d - 1), grid[d]);
    rule.Operand(1, d, o).Result(0, d + 1, o);
  }
  return rule.Finish();
}

std::vector<OpSample> Samples() {
  const SampleOperand grid = {DType::kF32, {3, 2, 5, 2}, -1.3, 1.3};
  return {
      {{F32({3, 2, 4, 5}), grid}},
      {{F32({3, 2, 4, 5}), grid},
       {{"mode", "cubic"}, {"padding", "reflection"}, {"align_corners", true}}},
      {{F32({3, 2, 4, 5}), grid}, {{"mode", "nearest"}, {"padding", "border"}}},
      {{F32({2, 3, 3, 4, 5}), {DType::kF32, {2, 3, 2, 4, 3}, -1.3, 1.3}},
       {{"padding", "border"}}},
  };
}

}  // namespace

extern constinit const OpDef kGridSample = {
    .name = "grid_sample",
    .doc =
        "x [n, c, spatial...] at the positions of a grid [n, result..., "
        "coordinates] (the last dimension's coordinate first, from -1 to 1): "
        "the nearest element, or a linear or cubic blend of neighbours.",
    .operands = {{{"x"}, {"grid"}}},
    .attrs = {{StringAttr("mode", "linear"), StringAttr("padding", "zeros"),
               BoolAttr("align_corners", false)}},
    .tolerance = Tolerance::kReduction,
    .infer = Infer,
    .eval = Evaluate,
    .no_gradient =
        "not implemented: it takes an op that adds at the positions that were "
        "read",
    .cost = EstimateCost,
    .dimension_rule = Rule,
    .samples = Samples,
};

}  // namespace partita
