// Steps along an axis. Each element begins anew, so that a running sum takes
// time in proportion to the square of the axis' extent.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/ops/op_checks.h"
#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

AxisLines LinesOf(const OpView& op) {
  return AxisLines(op.operand_type(0).dims, AxisOf(op));
}

// The element `at` of the point's line.
Register ElementOf(const IndexReader& read, const AxisLines& lines,
                   const std::vector<Register>& point, Register at) {
  return read.Number(0,
                     read.Offset({point[0], at, point[2]},
                                 {lines.extent * lines.inner, lines.inner, 1}));
}

absl::Status BuildRunning(IndexNode& node, bool is_product) {
  const OpView& op = node.op();
  const AxisLines lines = LinesOf(op);
  const bool reverse = op.attr_bool("reverse");
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  node.SetSteps({lines.extent});
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(read.NumberType(0), is_product ? 1 : 0)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register last = read.Index(lines.extent - 1);
    const Register step = read.Step(0);
    const Register own = reverse ? last - point[1] : point[1];
    const Register counts =
        op.attr_bool("exclusive") ? step < own : step <= own;
    const Register x =
        ElementOf(read, lines, point, reverse ? last - step : step);
    const Register total = read.State(0);
    return {Select(counts, is_product ? total * x : total + x, total)};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(node.program().operands[0].type, read.State(0))};
  });
  return absl::OkStatus();
}

// True if `a` goes before `b`: it is a NaN and `b` is none, or beyond it.
Register GoesBefore(Register a, Register b, bool is_max) {
  const Register beyond = is_max ? b < a : a < b;
  if (!IsFloatType(a.type)) return beyond;
  const Register b_is_number = Equal(b, b);
  return b_is_number & (IsNan(a) | beyond);
}

// State: the position of the first element that none goes before, and the
// element; with `last`, of the last one.
void FindExtreme(IndexNode& node, const AxisLines& lines, bool is_max,
                 bool last) {
  node.SetSteps({lines.extent});
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Index(0),
            ElementOf(read, lines, node.Point(read), read.Index(0))};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const Register step = read.Step(0);
    const Register x = ElementOf(read, lines, node.Point(read), step);
    const Register best = read.State(0);
    const Register top = read.State(1);
    const Register is_better = GoesBefore(x, top, is_max);
    const Register is_worse = GoesBefore(top, x, is_max);
    if (last) return {Select(is_worse, best, step), Select(is_worse, top, x)};
    return {Select(is_better, step, best), Select(is_better, x, top)};
  });
}

absl::Status BuildArg(IndexNode& node, bool is_max) {
  const OpView& op = node.op();
  const AxisLines lines = LinesOf(op);
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  node.SetPoints({lines.outer, 1, lines.inner});
  FindExtreme(node, lines, is_max, op.attr_bool("last_index"));
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {Cast(read.State(0), ScalarType::kI64)};
  });
  return absl::OkStatus();
}

}  // namespace

absl::Status BuildCumsum(IndexNode& node) {
  return BuildRunning(node, /*is_product=*/false);
}
absl::Status BuildCumprod(IndexNode& node) {
  return BuildRunning(node, /*is_product=*/true);
}
absl::Status BuildArgMax(IndexNode& node) {
  return BuildArg(node, /*is_max=*/true);
}
absl::Status BuildArgMin(IndexNode& node) {
  return BuildArg(node, /*is_max=*/false);
}

absl::Status BuildHardmax(IndexNode& node) {
  const AxisLines lines = LinesOf(node.op());
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const ScalarType type = node.program().operands[0].type;
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  FindExtreme(node, lines, /*is_max=*/true, /*last=*/false);
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const Register is_top = Equal(read.State(0), node.Point(read)[1]);
    const auto number = [&](double value) {
      return read.Constant(read.NumberType(0), value);
    };
    return {StoredNumber(type, Select(is_top, number(1), number(0)))};
  });
  return absl::OkStatus();
}

// Pass number p over the line finds the element that p others come before: the
// first one after that of the pass before.
absl::Status BuildTopK(IndexNode& node) {
  const OpView& op = node.op();
  const AxisLines lines = LinesOf(op);
  const int64_t k = op.attr_int("k");
  const bool largest = op.attr_bool("largest");
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  node.SetPoints({lines.outer, k, lines.inner});
  node.SetSteps({k, lines.extent});
  // The position and value of the last pass's element; of this pass's so far;
  // and of the point's own pass.
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    const Register none = read.Constant(read.NumberType(0), 0);
    return {read.Index(-1), none, read.Index(-1), none, read.Index(0), none};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register at = read.Step(1);
    const Register x = ElementOf(read, lines, point, at);
    const Register begins = Equal(at, read.Index(0));
    const Register last_at = Select(begins, read.State(2), read.State(0));
    const Register last = Select(begins, read.State(3), read.State(1));
    const Register best_at = Select(begins, read.Index(-1), read.State(2));
    const Register best = read.State(3);
    const auto is_first = [&](Register a, Register a_at, Register b,
                              Register b_at) {
      const auto is = [&](bool truth) {
        return read.Bits(ScalarType::kBool, truth);
      };
      const Register ties = a_at < b_at;
      return Select(
          GoesBefore(a, b, /*is_max=*/true), is(largest),
          Select(GoesBefore(b, a, /*is_max=*/true), is(!largest), ties));
    };
    const Register none = read.Index(0);
    const Register is_left = (last_at < none) | is_first(last, last_at, x, at);
    const Register is_better =
        is_left & ((best_at < none) | is_first(x, at, best, best_at));
    const Register now_at = Select(is_better, at, best_at);
    const Register now = Select(is_better, x, best);
    const Register is_own = Equal(read.Step(0), point[1]);
    return {last_at,
            last,
            now_at,
            now,
            Select(is_own, now_at, read.State(4)),
            Select(is_own, now, read.State(5))};
  });
  const ScalarType type = node.program().operands[0].type;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(type, read.State(5)),
            Cast(read.State(4), ScalarType::kI64)};
  });
  return absl::OkStatus();
}

}  // namespace partita
