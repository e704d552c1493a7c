// Expand: extents of 1 repeated to a given shape.
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
#include "graph/ops/strided.h"

namespace partita {
namespace {

absl::Status Infer(const OpView& op, Types& results) {
  const TensorType& x = op.operand_type(0);
  const Shape shape = ToShape(op.attr_ints("shape"));
  Shape broadcast = shape;
  if (!BroadcastInto(x.dims, broadcast) || broadcast != shape) {
    return BadExtents(op,
                      absl::StrCat("shape = [", absl::StrJoin(shape, ", "),
                                   "] for ", Describe(op, 0)),
                      "a shape that the operand broadcasts to",
                      "extents must be equal, or 1 in the operand");
  }
  return results.Set(0, {x.dtype, shape, {}});
}

std::vector<StridedMove> MovesOf(const OpView& op) {
  const Shape& dims = op.result_type(0).dims;
  return {{.dims = dims,
           .from_strides = BroadcastStrides(op.operand_type(0).dims, dims),
           .to_strides = RowMajorStrides(dims)}};
}

std::vector<OpSample> Samples() {
  return {{{F32({4, 1, 5})}, {{"shape", Ints{3, 4, 6, 5}}}}};
}

}  // namespace

extern constinit const OpDef kExpand = {
    .name = "expand",
    .doc = "The operand broadcast to exactly this shape.",
    .operands = {{{"x"}}},
    .attrs = {{RequiredAttr("shape", AttributeKind::kInts)}},
    .infer = Infer,
    .eval = EvaluateMoves<MovesOf>,
    .gradient = PassGradient,
    .cost = MoveCost,
    .dimension_rule = BroadcastRule,
    .shard_attributes = ShardShape,
    .moves = MovesAsBytes<MovesOf>,
    .samples = Samples,
};

}  // namespace partita
