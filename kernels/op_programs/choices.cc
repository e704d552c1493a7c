// An element here or there, by coordinate.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "graph/ops/op_checks.h"
#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/op_programs/constant_bits.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

// Each operand is read by each thread, so that many take too long.
constexpr int kMostConcatOperands = 64;

// Where pad reads a coordinate from that may be before or after the operand.
Register Mirrored(Register at, int64_t before, int64_t extent) {
  if (extent == 1) return Like(at, 0);
  const int64_t period = 2 * (extent - 1);
  const int64_t periods = (std::max<int64_t>(before, 0) + period - 1) / period;
  const Register phase =
      Remainder(at + static_cast<double>(periods * period), period);
  return Select(phase < static_cast<double>(extent), phase,
                static_cast<double>(period) - phase);
}
Register Clamped(Register at, int64_t extent) {
  const Register last = Like(at, static_cast<double>(extent - 1));
  const Register low = Select(at < Like(at, 0), Like(at, 0), at);
  return Select(low < last, low, last);
}

}  // namespace

absl::Status BuildConcat(IndexNode& node) {
  const OpView& op = node.op();
  const TensorType& y = op.result_type(0);
  if (op.num_operands() > kMostConcatOperands) {
    return node.NotGenerated("more than 64 operands");
  }
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
  const int axis = AxisAttr(op, "axis", y.rank());
  const AxisLines lines(y.dims, axis);
  node.SetPoints({lines.outer, lines.extent, lines.inner});
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    std::optional<Register> value;
    int64_t begin = 0;
    for (int i = 0; i < op.num_operands(); ++i) {
      const int64_t extent = op.operand_type(i).dims[axis];
      if (extent == 0) continue;
      const Register at = point[1] - read.Index(begin);
      const Register is_here = read.IsInside(at, extent);
      const Register element =
          read.Element(i,
                       read.Offset({point[0], at, point[2]},
                                   {extent * lines.inner, lines.inner, 1}),
                       is_here);
      value = value.has_value() ? Select(is_here, element, *value) : element;
      begin += extent;
    }
    return {value.has_value() ? *value : read.Element(0, read.Index(0))};
  });
  return absl::OkStatus();
}

absl::Status BuildPad(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& x = op.operand_type(0).dims;
  const std::string mode = op.attr_string("mode");
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
  const Shape& dims = op.result_type(0).dims;
  node.SetPoints(dims);
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    std::vector<Register> point = node.Point(read);
    Conditions exists;
    for (size_t d = 0; d < x.size(); ++d) {
      const int64_t before = op.attr_ints("before")[d];
      if (before == 0 && op.attr_ints("after")[d] == 0) continue;
      point[d] = point[d] - read.Index(before);
      if (mode == "constant") {
        exists.Add(read.IsInside(point[d], x[d]));
      } else {
        point[d] = mode == "edge" ? Clamped(point[d], x[d])
                                  : Mirrored(point[d], before, x[d]);
      }
    }
    const Register element =
        read.Element(0, read.Offset(point, RowMajorStrides(x)), exists.all());
    const Register value =
        BitsOfNumber(read, op.attr_number("value"), op.result_type(0).dtype);
    return {exists.Choose(element, value)};
  });
  return absl::OkStatus();
}

absl::Status BuildTile(IndexNode& node) {
  const Shape& x = node.op().operand_type(0).dims;
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
  const Shape& dims = node.op().result_type(0).dims;
  node.SetPoints(dims);
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    std::vector<Register> point = node.Point(read);
    for (size_t d = 0; d < x.size(); ++d) {
      if (dims[d] > x[d] && x[d] > 0) point[d] = Remainder(point[d], x[d]);
    }
    return {read.Element(0, read.Offset(point, RowMajorStrides(x)))};
  });
  return absl::OkStatus();
}

absl::Status BuildTrilu(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& dims = op.operand_type(0).dims;
  const int64_t rows = dims[dims.size() - 2];
  const int64_t columns = dims.back();
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
  const int64_t matrices =
      Product(absl::MakeConstSpan(dims).subspan(0, dims.size() - 2));
  node.SetPoints({matrices, rows, columns});
  // A diagonal beyond the corners is at one.
  const int64_t k = std::clamp(op.attr_int("k"), -rows - 1, columns + 1);
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    const std::vector<Register> point = node.Point(read);
    const Register edge = point[1] + read.Index(k);
    const Register stays =
        op.attr_bool("upper") ? edge <= point[2] : point[2] <= edge;
    return {read.Element(0, read.Offset(point, {rows * columns, columns, 1}),
                         stays)};
  });
  return absl::OkStatus();
}

}  // namespace partita
