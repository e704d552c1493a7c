// Softmax along an axis that is not the last, where a row is no line of memory.
// Each element goes through its row twice.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <vector>

#include "graph/ops/op_checks.h"
#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

// State: the greatest element, then the sum of exp(x - greatest).
absl::Status SumExponentials(IndexNode& node, const AxisLines& lines) {
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  node.SetSteps({2, lines.extent});
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(read.NumberType(0),
                          -std::numeric_limits<double>::infinity()),
            read.Constant(read.NumberType(0), 0)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register x = read.Number(
        0, read.Offset({point[0], read.Step(1), point[2]},
                       {lines.extent * lines.inner, lines.inner, 1}));
    const Register top = read.State(0);
    const Register sum = read.State(1);
    const Register seeks = Equal(read.Step(0), read.Index(0));
    const Register greater = Select((top < x) | IsNan(x), x, top);
    return {Select(seeks, greater, top),
            Select(seeks, sum, sum + Exp(x - top))};
  });
  return absl::OkStatus();
}

// The point's own x - greatest.
Register Own(const IndexNode& node, const IndexReader& read,
             const AxisLines& lines) {
  return read.Number(
             0, read.Offset(node.Point(read),
                            {lines.extent * lines.inner, lines.inner, 1})) -
         read.State(0);
}

}  // namespace

absl::Status BuildSoftmaxOfAxis(IndexNode& node) {
  const OpView& op = node.op();
  const AxisLines lines(op.operand_type(0).dims, AxisOf(op));
  PARTITA_RETURN_IF_ERROR(SumExponentials(node, lines));
  const ScalarType type = node.program().operands[0].type;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(type, Exp(Own(node, read, lines)) / read.State(1))};
  });
  return absl::OkStatus();
}

absl::Status BuildLogSoftmaxOfAxis(IndexNode& node) {
  const OpView& op = node.op();
  const AxisLines lines(op.operand_type(0).dims, AxisOf(op));
  PARTITA_RETURN_IF_ERROR(SumExponentials(node, lines));
  const ScalarType type = node.program().operands[0].type;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(type, Own(node, read, lines) - Log(read.State(1)))};
  });
  return absl::OkStatus();
}

}  // namespace partita
