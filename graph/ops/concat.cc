// Concat: tensors in sequence along an axis.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/extent_error.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

// Checks that extents agree, except along the axis.
absl::Status CheckOperand(const OpView& op, int operand, int axis) {
  const TensorType& first = op.operand_type(0);
  const TensorType& x = op.operand_type(operand);
  bool agrees = x.rank() == first.rank();
  for (int d = 0; agrees && d < x.rank(); ++d) {
    agrees = d == axis || x.dims[d] == first.dims[d];
  }
  if (agrees) return absl::OkStatus();
  return BadExtents(op, Describe(op, operand),
                    absl::StrCat("the extents of ", Describe(op, 0),
                                 " except in dimension ", axis),
                    "reshape or slice the operand");
}

absl::Status Infer(const OpView& op, Types& results) {
  TensorType type = op.operand_type(0).RowMajor();
  PARTITA_RETURN_IF_ERROR(ExpectAxis(op, "axis", type.rank()));
  PARTITA_RETURN_IF_ERROR(ExpectOneDType(op));
  const int axis = AxisAttr(op, "axis", type.rank());
  for (int i = 1; i < op.num_operands(); ++i) {
    PARTITA_RETURN_IF_ERROR(CheckOperand(op, i, axis));
    type.dims[axis] += op.operand_type(i).dims[axis];
    // Checked in each iteration: the sum of two valid extents does not
    // overflow.
    PARTITA_RETURN_IF_ERROR(CheckType(type));
  }
  return results.Set(0, type);
}

std::vector<StridedMove> MovesOf(const OpView& op) {
  const TensorType& result = op.result_type(0);
  const int axis = AxisAttr(op, "axis", result.rank());
  const Shape strides = RowMajorStrides(result.dims);
  std::vector<StridedMove> moves;
  int64_t offset = 0;
  for (int i = 0; i < op.num_operands(); ++i) {
    const Shape& dims = op.operand_type(i).dims;
    moves.push_back({.operand = i,
                     .dims = dims,
                     .from_strides = RowMajorStrides(dims),
                     .to_offset = offset * strides[axis],
                     .to_strides = strides});
    offset += dims[axis];
  }
  return moves;
}

DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const TensorType& result = op.result_type(0);
  const int axis = AxisAttr(op, "axis", result.rank());
  for (int d = 0; d < result.rank(); ++d) {
    if (d == axis) continue;
    const int factor = rule.Kept(absl::StrCat("d", d), result.dims[d]);
    for (int i = 0; i < op.num_operands(); ++i) rule.Operand(i, d, factor);
    rule.Result(0, d, factor);
  }
  return rule.Finish();
}

// The slice of each operand.
absl::Status Gradient(GradBuilder& b) {
  const int axis = AxisAttr(b.op(), "axis", b.op().result_type(0).rank());
  int64_t offset = 0;
  for (int i = 0; i < b.num_operands(); ++i) {
    const int64_t extent = b.op().operand_type(i).dims[axis];
    if (b.needs(i)) b.Yield(i, SliceOf(b.grad(0), axis, offset, extent));
    offset += extent;
  }
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({4, 2, 5}), F32({4, 3, 5}), F32({4, 0, 5})}, {{"axis", 1}}},
      {{I32({2}), I32({3})}, {{"axis", -1}}},
  };
}

}  // namespace

extern constinit const OpDef kConcat = {
    .name = "concat",
    .doc = "The operands in sequence along an axis.",
    .operands = {{{"x", kVariadic}}},
    .attrs = {{RequiredAttr("axis", AttributeKind::kInt)}},
    .infer = Infer,
    .eval = EvaluateMoves<MovesOf>,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .moves = MovesAsBytes<MovesOf>,
    .samples = Samples,
};

}  // namespace partita
