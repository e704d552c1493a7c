// Elements at positions of another shape.
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "graph/ops/resample.h"
#include "graph/status_macros.h"
#include "kernels/codegen/narrow_types.h"
#include "kernels/op_programs/index_ops.h"
#include "kernels/op_programs/resample_taps.h"

namespace partita {
namespace {

AxisMap MapOfAxis(const OpView& op, size_t d) {
  return MapOf(op, static_cast<int>(d), op.operand_type(0).dims[d],
               op.attr_ints("sizes")[d]);
}

std::vector<AxisMap> MapsOf(const OpView& op) {
  std::vector<AxisMap> maps;
  for (size_t d = 0; d < op.operand_type(0).dims.size(); ++d) {
    maps.push_back(MapOfAxis(op, d));
  }
  return maps;
}

// The blend over dimensions [0, end) at a point whose later coordinates are
// those of elements.
class Blend {
 public:
  Blend(const OpView& op, const IndexReader& read)
      : op_(op), read_(read), strides_(RowMajorStrides(Dims())) {}

  Register At(std::vector<Register> point, size_t end) const {
    while (end > 0 && IsIdentity(MapOfAxis(op_, end - 1))) --end;
    if (end == 0) return read_.Number(0, read_.Offset(point, strides_));
    const size_t d = end - 1;
    Register sum = read_.Constant(read_.NumberType(0), 0);
    for (const ResampleTap& n : BlendedTaps(op_, MapOfAxis(op_, d), point[d])) {
      std::vector<Register> at = point;
      at[d] = n.index;
      const Register value = At(std::move(at), d);
      const Register weight = Cast(n.weight, value.type);
      // Also if the value is infinite.
      const Register is_none = Equal(weight, Like(weight, 0));
      sum = Select(is_none, sum, Fma(weight, value, sum));
    }
    return sum;
  }

 private:
  const Shape& Dims() const { return op_.operand_type(0).dims; }
  const OpView& op_;
  const IndexReader& read_;
  const Shape strides_;
};

}  // namespace

absl::Status BuildResize(IndexNode& node) {
  const OpView& op = node.op();
  const Shape& x = op.operand_type(0).dims;
  PARTITA_RETURN_IF_ERROR(CheckResampling(node, MapsOf(op)));
  node.SetPoints(op.result_type(0).dims);
  if (op.attr_string("mode") == "nearest") {
    PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
    node.Last([&](const IndexReader& read) -> std::vector<Register> {
      std::vector<Register> point = node.Point(read);
      for (size_t d = 0; d < point.size(); ++d) {
        const AxisMap map = MapOfAxis(op, d);
        if (!IsIdentity(map)) point[d] = NearestInside(op, map, point[d]);
      }
      return {read.Element(0, read.Offset(point, RowMajorStrides(x)))};
    });
    return absl::OkStatus();
  }
  if (!IsFloat(op.operand_type(0).dtype)) {
    return node.NotGenerated("a blend of integers, which truncates");
  }
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kNumber}));
  const ScalarType type = node.program().operands[0].type;
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {StoredNumber(type, Blend(op, read).At(node.Point(read), x.size()))};
  });
  return absl::OkStatus();
}

}  // namespace partita
