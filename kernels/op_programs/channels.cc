// Channels of x [n, channels, ...], shifted and scaled.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {

absl::Status BuildBatchNorm(IndexNode& node) {
  const OpView& op = node.op();
  const AxisLines lines(op.operand_type(0).dims, /*axis=*/1);
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const ScalarType type = node.program().operands[0].type;
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register x = read.Number(
        0, read.Offset(point, {lines.extent * lines.inner, lines.inner, 1}));
    const auto of_channel = [&](size_t operand) {
      return Cast(read.Number(operand, point[1]), x.type);
    };
    const Register deviation =
        Unary(Opcode::kSqrt, of_channel(4) + op.attr_float("epsilon"));
    const Register scale = of_channel(1) / deviation;
    return {StoredNumber(type, (x - of_channel(3)) * scale + of_channel(2))};
  });
  return absl::OkStatus();
}

}  // namespace partita
