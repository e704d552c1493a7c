// Elements at indices that an operand has.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/ops/op_checks.h"
#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {

absl::Status BuildGather(IndexNode& node) {
  const OpView& op = node.op();
  const AxisLines lines(op.operand_type(0).dims, AxisOf(op));
  const int64_t count = op.operand_type(1).num_elements();
  PARTITA_RETURN_IF_ERROR(
      node.SetOperands({OperandUse::kBits, OperandUse::kIndex}));
  node.SetPoints({lines.outer, count, lines.inner});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const SelectedIndex at = ReadIndex(read, 1, point[1], lines.extent);
    return {
        read.Element(0,
                     read.Offset({point[0], at.index, point[2]},
                                 {lines.extent * lines.inner, lines.inner, 1}),
                     at.is_inside)};
  });
  return absl::OkStatus();
}

absl::Status BuildGatherElements(IndexNode& node) {
  const OpView& op = node.op();
  const int axis = AxisOf(op);
  const Shape& x = op.operand_type(0).dims;
  const Shape& dims = op.result_type(0).dims;
  PARTITA_RETURN_IF_ERROR(
      node.SetOperands({OperandUse::kBits, OperandUse::kIndex}));
  node.SetPoints(dims);
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    std::vector<Register> point = node.Point(read);
    const SelectedIndex at =
        ReadIndex(read, 1, read.Offset(point, RowMajorStrides(dims)), x[axis],
                  op.attr_bool("from_end"));
    point[axis] = at.index;
    return {
        read.Element(0, read.Offset(point, RowMajorStrides(x)), at.is_inside)};
  });
  return absl::OkStatus();
}

absl::Status BuildGatherNd(IndexNode& node) {
  const OpView& op = node.op();
  const absl::Span<const int64_t> x = op.operand_type(0).dims;
  const absl::Span<const int64_t> indices = op.operand_type(1).dims;
  const int batch = static_cast<int>(op.attr_int("batch_dims"));
  const int indexed = static_cast<int>(indices.back());
  const Shape strides = RowMajorStrides(x);
  const int64_t slice = Product(x.subspan(batch + indexed));
  const int64_t vectors =
      Product(indices.subspan(batch, indices.size() - 1 - batch));
  PARTITA_RETURN_IF_ERROR(
      node.SetOperands({OperandUse::kBits, OperandUse::kIndex}));
  node.SetPoints({Product(x.subspan(0, batch)), vectors, slice});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    Register offset =
        read.Offset({point[0], point[2]}, {Product(x.subspan(batch)), 1});
    Conditions inside;
    for (int d = 0; d < indexed; ++d) {
      const Register from =
          read.Offset({point[0], point[1]}, {vectors * indexed, indexed}, d);
      const SelectedIndex at = ReadIndex(read, 1, from, x[batch + d]);
      inside.Add(at.is_inside);
      offset = at.index * read.Index(strides[batch + d]) + offset;
    }
    return {read.Element(0, offset, inside.all())};
  });
  return absl::OkStatus();
}

absl::Status BuildOneHot(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& dims = op.result_type(0).dims;
  const int axis = AxisAttr(op, "axis", static_cast<int>(dims.size()));
  const AxisLines lines(dims, axis);
  PARTITA_RETURN_IF_ERROR(
      node.SetOperands({OperandUse::kIndex, OperandUse::kBits}));
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const SelectedIndex hot =
        ReadIndex(read, 0, read.Offset({point[0], point[2]}, {lines.inner, 1}),
                  lines.extent);
    const Register is_hot = hot.is_inside & Equal(hot.index, point[1]);
    return {Select(is_hot, read.Element(1, read.Index(1)),
                   read.Element(1, read.Index(0)))};
  });
  return absl::OkStatus();
}

}  // namespace partita
