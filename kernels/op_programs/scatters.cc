// Each element of the result goes through all updates that may be its own.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/ops/indexing.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

// As graph/ops/indexing.h has it: each combination is rounded to `type`.
Register Combine(ScatterReduction reduction, ScalarType type, Register old,
                 Register update) {
  const auto rounded = [&](Register x) { return RoundedNumber(type, x); };
  const auto keeps_old = [&](Register is_beyond) {
    return IsFloatType(old.type) ? is_beyond | IsNan(old) : is_beyond;
  };
  switch (reduction) {
    case ScatterReduction::kAdd:
      return rounded(old + update);
    case ScatterReduction::kMul:
      return rounded(old * update);
    case ScatterReduction::kMin:
      return Select(keeps_old(old < update), old, update);
    case ScatterReduction::kMax:
      return Select(keeps_old(update < old), old, update);
    case ScatterReduction::kReplace:
      break;
  }
  return update;
}

// Replacing moves bits; other reductions compute.
absl::Status SetScatterOperands(IndexNode& node) {
  const bool moves =
      ScatterReductionOf(node.op()) == ScatterReduction::kReplace;
  const OperandUse use = moves ? OperandUse::kBits : OperandUse::kNumber;
  return node.SetOperands({use, OperandUse::kIndex, use});
}

// The element of an operand in the form in which updates are combined.
Register Combinable(const OpView& op, const IndexReader& read, size_t operand,
                    Register offset,
                    std::optional<Register> condition = std::nullopt) {
  return ScatterReductionOf(op) == ScatterReduction::kReplace
             ? read.Element(operand, offset, condition)
             : read.Number(operand, offset, condition);
}

void StoreCombined(IndexNode& node) {
  const ScalarType type = node.program().operands[0].type;
  const bool moves =
      ScatterReductionOf(node.op()) == ScatterReduction::kReplace;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {moves ? read.State(0) : StoredNumber(type, read.State(0))};
  });
}

}  // namespace

absl::Status BuildGatherGradient(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& dims = op.result_type(0).dims;
  const int axis = AxisAttr(op, "axis", static_cast<int>(dims.size()));
  const AxisLines lines(dims, axis);
  const int64_t count = op.operand_type(1).num_elements();
  PARTITA_RETURN_IF_ERROR(
      node.SetOperands({OperandUse::kNumber, OperandUse::kIndex}));
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  node.SetSteps({count});
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Constant(read.NumberType(0), 0)};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register step = read.Step(0);
    const SelectedIndex at = ReadIndex(read, 1, step, lines.extent);
    const Register is_own = at.is_inside & Equal(at.index, point[1]);
    const Register dy =
        read.Number(0,
                    read.Offset({point[0], step, point[2]},
                                {count * lines.inner, lines.inner, 1}),
                    is_own);
    return {Select(is_own, read.State(0) + dy, read.State(0))};
  });
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(node.program().operands[0].type, read.State(0))};
  });
  return absl::OkStatus();
}

absl::Status BuildScatterElements(IndexNode& node) {
  const OpView& op = node.op();
  const int axis = AxisOf(op);
  const Shape& x = op.operand_type(0).dims;
  const Shape& updates = op.operand_type(1).dims;
  PARTITA_RETURN_IF_ERROR(SetScatterOperands(node));
  const ScalarType type = node.program().operands[0].type;
  node.SetPoints(x);
  node.SetSteps({Product(updates) == 0 ? 0 : updates[axis]});
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {Combinable(op, read, 0,
                       read.Offset(node.Point(read), RowMajorStrides(x)))};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    std::vector<Register> from = point;
    from[axis] = read.Step(0);
    Conditions exists;
    for (size_t d = 0; d < x.size(); ++d) {
      if (static_cast<int>(d) == axis || updates[d] == x[d]) continue;
      exists.Add(point[d] < read.Index(updates[d]));
    }
    // Where there is no update its offset is another's, or beyond them all.
    const Register wanted = read.Offset(from, RowMajorStrides(updates));
    const Register offset = exists.Choose(wanted, read.Index(0));
    const SelectedIndex at =
        ReadIndex(read, 1, offset, x[axis], op.attr_bool("from_end"));
    Conditions is_own = exists;
    is_own.Add(at.is_inside & Equal(at.index, point[axis]));
    const Register update = Combinable(op, read, 2, offset, is_own.all());
    return {is_own.Choose(
        Combine(ScatterReductionOf(op), type, read.State(0), update),
        read.State(0))};
  });
  StoreCombined(node);
  return absl::OkStatus();
}

absl::Status BuildScatterNd(IndexNode& node) {
  const OpView& op = node.op();
  const absl::Span<const int64_t> x = op.operand_type(0).dims;
  const absl::Span<const int64_t> indices = op.operand_type(1).dims;
  const int indexed = static_cast<int>(indices.back());
  const Shape positions(x.begin(), x.begin() + indexed);
  const Shape strides = RowMajorStrides(positions);
  const int64_t slice = Product(x.subspan(indexed));
  PARTITA_RETURN_IF_ERROR(SetScatterOperands(node));
  const ScalarType type = node.program().operands[0].type;
  node.SetPoints({Product(positions), slice});
  node.SetSteps({Product(indices.subspan(0, indices.size() - 1))});
  node.First([&](const IndexReader& read) -> std::vector<Register> {
    return {Combinable(op, read, 0, read.Offset(node.Point(read), {slice, 1}))};
  });
  node.EachStep([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    Register position = read.Index(0);
    Conditions is_own;
    for (int d = 0; d < indexed; ++d) {
      const SelectedIndex at = ReadIndex(
          read, 1, read.Offset({read.Step(0)}, {indexed}, d), positions[d]);
      is_own.Add(at.is_inside);
      position = position + at.index * read.Index(strides[d]);
    }
    is_own.Add(Equal(position, point[0]));
    const Register update = Combinable(
        op, read, 2, read.Offset({read.Step(0), point[1]}, {slice, 1}),
        is_own.all());
    return {is_own.Choose(
        Combine(ScatterReductionOf(op), type, read.State(0), update),
        read.State(0))};
  });
  StoreCombined(node);
  return absl::OkStatus();
}

}  // namespace partita
