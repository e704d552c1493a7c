// Divisions by sums over neighbouring channels, or along an axis.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <vector>

#include "graph/ops/op_checks.h"
#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/codegen/float_functions.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

Register ElementOf(const IndexReader& read, const AxisLines& lines,
                   const std::vector<Register>& point, Register at,
                   std::optional<Register> condition = std::nullopt) {
  return read.Number(0,
                     read.Offset({point[0], at, point[2]},
                                 {lines.extent * lines.inner, lines.inner, 1}),
                     condition);
}

void SetZero(IndexNode& node) {
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(read.NumberType(0), 0)};
  });
}

}  // namespace

absl::Status BuildLrn(IndexNode& node) {
  const OpView& op = node.op();
  const TensorType& x = op.operand_type(0);
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const ScalarType type = node.program().operands[0].type;
  const AxisLines lines(x.dims, 1);
  const int64_t size = op.attr_int("size");
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  // No more neighbours than there are channels.
  const int64_t before = std::min((size - 1) / 2, lines.extent);
  const int64_t after = std::min(size / 2, lines.extent);
  node.SetSteps({before + 1 + after});
  SetZero(node);
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register channel = point[1] + read.Step(0) - read.Index(before);
    const Register exists = read.IsInside(channel, lines.extent);
    const Register value = ElementOf(read, lines, point, channel, exists);
    return {Fma(value, value, read.State(0))};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register base =
        Fma(read.State(0), op.attr_float("alpha") / static_cast<double>(size),
            Like(read.State(0), op.attr_float("bias")));
    const Register power = Power(base, Like(base, op.attr_float("beta")));
    return {
        StoredNumber(type, ElementOf(read, lines, point, point[1]) / power)};
  });
  return absl::OkStatus();
}

// A line with norm 0 stays 0.
absl::Status BuildLpNormOfAxis(IndexNode& node) {
  const OpView& op = node.op();
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const ScalarType type = node.program().operands[0].type;
  const AxisLines lines(op.operand_type(0).dims, AxisOf(op));
  const bool squares = op.attr_int("p") == 2;
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  node.SetSteps({lines.extent});
  SetZero(node);
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const Register x = ElementOf(read, lines, node.Point(read), read.Step(0));
    const Register total = read.State(0);
    return {squares ? Fma(x, x, total) : total + Unary(Opcode::kAbs, x)};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register total = read.State(0);
    const Register norm = squares ? Unary(Opcode::kSqrt, total) : total;
    const Register divisor =
        Select(Equal(norm, Like(norm, 0)), Like(norm, 1), norm);
    return {
        StoredNumber(type, ElementOf(read, lines, point, point[1]) / divisor)};
  });
  return absl::OkStatus();
}

}  // namespace partita
