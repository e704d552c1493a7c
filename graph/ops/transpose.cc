// Transpose: the dimensions in another order.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/ops/byte_moves.h"
#include "graph/ops/grad_builder.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/rule_builder.h"
#include "graph/ops/sample_operands.h"

namespace partita {
namespace {

bool IsPermutation(absl::Span<const int64_t> perm, int rank) {
  std::vector<bool> seen(rank, false);
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= rank || seen[axis]) return false;
    seen[axis] = true;
  }
  return perm.size() == seen.size();
}

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  const std::vector<int64_t>& perm = op.attr_ints("perm");
  if (!IsPermutation(perm, x.rank())) {
    return BadOp(op,
                 absl::StrCat("perm = [", absl::StrJoin(perm, ", "), "] for ",
                              Describe(op, 0)),
                 absl::StrCat("each of 0..", x.rank() - 1, " once"),
                 "list every dimension of the operand in its new order");
  }
  Shape dims;
  for (int64_t axis : perm) dims.push_back(x.dims[axis]);
  return results.Set(0, {x.dtype, dims, {}});
}

std::vector<StridedMove> MovesOf(const OpView& op) {
  StridedMove move;
  move.dims = op.result_type(0).dims;
  move.to_strides = RowMajorStrides(move.dims);
  const Shape strides = RowMajorStrides(op.operand_type(0).dims);
  for (int64_t axis : op.attr_ints("perm")) {
    move.from_strides.push_back(strides[axis]);
  }
  return {move};
}

DimensionRule Rule(const OpView& op) {
  RuleBuilder rule(op);
  const std::vector<int64_t>& perm = op.attr_ints("perm");
  for (size_t i = 0; i < perm.size(); ++i) {
    rule.Keep(absl::StrCat("d", perm[i]), static_cast<int>(perm[i]),
              static_cast<int>(i));
  }
  return rule.Finish();
}

absl::Status Gradient(GradBuilder& b) {
  const std::vector<int64_t> perm = b.op().attr_ints("perm");
  std::vector<int64_t> inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) {
    inverse[perm[i]] = static_cast<int64_t>(i);
  }
  b.Yield(0, TransposeTo(b.grad(0), std::move(inverse)));
  return b.status();
}

std::vector<OpSample> Samples() {
  return {
      {{F32({3, 4, 5})}, {{"perm", Ints{2, 0, 1}}}},
      {{I64({3, 4}, -9, 9)}, {{"perm", Ints{1, 0}}}},
  };
}

}  // namespace

extern constinit const OpDef kTranspose = {
    .name = "transpose",
    .doc = "Dimension i of the result is dimension perm[i] of the operand.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("perm", AttributeKind::kInts)}},
    .infer = Infer,
    .eval = EvaluateMoves<MovesOf>,
    .gradient = Gradient,
    .cost = MoveCost,
    .dimension_rule = Rule,
    .moves = MovesAsBytes<MovesOf>,
    .samples = Samples,
};

}  // namespace partita
