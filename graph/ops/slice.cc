// Slice: every step-th element from a start on, in each dimension.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

struct Range {
  int64_t start;
  int64_t size;
  int64_t step;
};
// Without steps, each is 1.
Range RangeOf(const OpView& op, int dim) {
  const std::vector<int64_t>& steps = op.attr_ints("steps");
  return {op.attr_ints("starts")[dim], op.attr_ints("sizes")[dim],
          steps.empty() ? 1 : steps[dim]};
}

// A step beyond the extent is refused before it is multiplied.
bool Fits(const Range& range, int64_t extent) {
  if (range.step == 0 || range.size < 0 || range.start < 0) return false;
  if (range.size == 0) return range.start <= extent;
  if (range.start >= extent || range.size > extent) return false;
  if (range.size == 1) return true;
  if (range.step > extent || range.step < -extent) return false;
  const int64_t reach = range.step > 0 ? extent - 1 - range.start : range.start;
  const int64_t step = range.step > 0 ? range.step : -range.step;
  return range.size - 1 <= reach / step;
}

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectPerDimension(op, "starts", x.rank()));
  PARTITA_RETURN_IF_ERROR(ExpectPerDimension(op, "sizes", x.rank()));
  if (!op.attr_ints("steps").empty()) {
    PARTITA_RETURN_IF_ERROR(ExpectPerDimension(op, "steps", x.rank()));
  }
  for (int d = 0; d < x.rank(); ++d) {
    const Range range = RangeOf(op, d);
    if (Fits(range, x.dims[d])) continue;
    return BadExtents(
        op,
        absl::StrCat(range.size, " elements from ", range.start, " with step ",
                     range.step, " in dimension ", d),
        absl::StrCat("elements inside 0..", x.dims[d] - 1),
        "correct starts, sizes or steps");
  }
  return results.Set(0, {x.dtype, ToShape(op.attr_ints("sizes")), {}});
}

std::vector<StridedMove> MovesOf(const OpView& op) {
  StridedMove move;
  move.dims = op.result_type(0).dims;
  move.to_strides = RowMajorStrides(move.dims);
  move.from_strides = RowMajorStrides(op.operand_type(0).dims);
  for (size_t d = 0; d < move.dims.size(); ++d) {
    const Range range = RangeOf(op, static_cast<int>(d));
    // With at most one element the step has no effect.
    move.from_offset += range.start * move.from_strides[d];
    move.from_strides[d] *= range.size > 1 ? range.step : 0;
  }
  return {move};
}

bool TakesAll(const OpView& op, int dim) {
  const Range range = RangeOf(op, dim);
  return range.step == 1 && range.size == op.operand_type(0).dims[dim];
}

// A dimension that is taken whole is kept. Any other dimension is kept only in
// the result: each shard reads its elements from the whole operand.
DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  for (int d = 0; d < op.operand_type(0).rank(); ++d) {
    if (TakesAll(op, d)) {
      rule.Keep(absl::StrCat("d", d), d, d);
    } else {
      rule.Result(0, d, rule.Kept(absl::StrCat("r", d), RangeOf(op, d).size));
    }
  }
  return rule.Finish();
}

void ShardAttributes(const OpView& op, int factor, int64_t begin, int64_t end,
                     Attributes& attributes) {
  const int dim = ResultDimension(op, factor);
  if (dim < 0) return;
  std::vector<int64_t> starts = op.attr_ints("starts");
  std::vector<int64_t> sizes = op.attr_ints("sizes");
  if (!TakesAll(op, dim)) starts[dim] += begin * RangeOf(op, dim).step;
  sizes[dim] = end - begin;
  attributes.Set("starts", starts);
  attributes.Set("sizes", sizes);
}

Term Reversed(Term x, int dim) {
  std::vector<int64_t> starts(x.dims().size(), 0);
  std::vector<int64_t> steps(starts.size(), 1);
  const Shape dims = x.dims();
  starts[dim] = dims[dim] - 1;
  steps[dim] = -1;
  return Apply(kSlice, {x},
               {{"starts", std::move(starts)},
                {"sizes", std::vector<int64_t>(dims.begin(), dims.end())},
                {"steps", std::move(steps)}});
}

// step - 1 zeros after every element: [n] -> [n, 1] -> [n, step] -> [n step].
Term Spread(Term x, int dim, int64_t step) {
  Shape columns = x.dims();
  columns.insert(columns.begin() + dim + 1, 1);
  Shape merged = x.dims();
  merged[dim] *= step;
  return ReshapeTo(PadWith(ReshapeTo(x, columns), dim + 1, 0, step - 1),
                   merged);
}

// Puts the elements of one dimension back to their positions.
Term PutBack(Term x, int dim, Range range, int64_t extent) {
  if (range.size > 1 && range.step < 0) {
    x = Reversed(x, dim);
    range = {range.start + (range.size - 1) * range.step, range.size,
             -range.step};
  }
  if (range.size > 1 && range.step > 1) {
    x = Spread(x, dim, range.step);
    range.size *= range.step;
  }
  return PadWith(x, dim, range.start, extent - range.start - range.size);
}

absl::Status Gradient(GradBuilder& b) {
  const Shape dims = b.operand(0).dims();
  Term x = b.grad(0);
  for (int d = 0; d < static_cast<int>(dims.size()) && x.valid(); ++d) {
    x = PutBack(x, d, RangeOf(b.op(), d), dims[d]);
  }
  b.Yield(0, x);
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({6, 7, 5})},
       {{"starts", Ints{1, 6, 0}},
        {"sizes", Ints{2, 4, 5}},
        {"steps", Ints{3, -2, 1}}}},
      {{Bool({6, 4})}, {{"starts", Ints{2, 0}}, {"sizes", Ints{3, 4}}}},
  };
}

}  // namespace

extern constinit const OpDef kSlice = {
    .name = "slice",
    .doc =
        "Element i of the result is element start + i step of the operand, "
        "in each dimension; steps may be negative.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("starts", AttributeKind::kInts),
               RequiredAttr("sizes", AttributeKind::kInts), IntsAttr("steps")}},
    .infer = Infer,
    .eval = EvaluateMoves<MovesOf>,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .shard_attributes = ShardAttributes,
    .moves = MovesAsBytes<MovesOf>,
    .samples = Samples,
};

}  // namespace partita
