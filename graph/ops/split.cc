// Split: consecutive slices along an axis, one for each result.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/op_list.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

bool SizesFill(absl::Span<const int64_t> sizes, int64_t extent) {
  for (int64_t size : sizes) {
    if (size < 0 || size > extent) return false;
    extent -= size;
  }
  return extent == 0 && !sizes.empty();
}

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", x.rank()));
  const std::vector<int64_t>& sizes = op.attr_ints("sizes");
  TensorType part = x.RowMajor();
  int64_t& extent = part.dims[AxisOf(op)];
  if (!SizesFill(sizes, extent)) {
    return BadExtents(
        op, absl::StrCat("sizes = [", absl::StrJoin(sizes, ", "), "]"),
        absl::StrCat("sizes of 0 or more that sum to ", extent),
        "correct sizes");
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    extent = sizes[i];
    PARTITA_RETURN_IF_ERROR(results.Set(static_cast<int>(i), part));
  }
  return absl::OkStatus();
}

std::vector<StridedMove> MovesOf(const OpView& op) {
  const Shape strides = RowMajorStrides(op.operand_type(0).dims);
  const int axis = AxisOf(op);
  std::vector<StridedMove> moves;
  int64_t offset = 0;
  for (int i = 0; i < op.num_results(); ++i) {
    const Shape& dims = op.result_type(i).dims;
    moves.push_back({.result = i,
                     .dims = dims,
                     .from_offset = offset * strides[axis],
                     .from_strides = strides,
                     .to_strides = RowMajorStrides(dims)});
    offset += dims[axis];
  }
  return moves;
}

DimensionRule Rule(const OpView& op) { return AlongAxisRule(op, AxisOf(op)); }

absl::Status Gradient(GradBuilder& b) {
  std::vector<Term> parts;
  for (int i = 0; i < b.op().num_results(); ++i) parts.push_back(b.grad(i));
  const int64_t axis = AxisOf(b.op());
  b.Yield(0, Apply(kConcat, parts, {{"axis", axis}}));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {{{F32({4, 6, 5})}, {{"axis", 1}, {"sizes", Ints{1, 3, 2}}}}};
}

}  // namespace

extern constinit const OpDef kSplit = {
    .name = "split",
    .doc = "Consecutive slices of the operand along an axis, with these sizes.",
    .operands = {{{"x"}}},
    .num_results = kAnyNumber,
    .attrs = {{RequiredAttr("axis", AttributeKind::kInt),
               RequiredAttr("sizes", AttributeKind::kInts)}},
    .infer = Infer,
    .eval = EvaluateMoves<MovesOf>,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .moves = MovesAsBytes<MovesOf>,
    .samples = Samples,
};

}  // namespace partita
