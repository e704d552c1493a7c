// Elements of the operand at strides.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "absl/algorithm/container.h"
#include "graph/ops/op_checks.h"
#include "graph/ops/strided.h"
#include "graph/status_macros.h"
#include "kernels/op_programs/index_ops.h"

namespace partita {
namespace {

// The points of a result, and where each finds its element.
struct StridedRead {
  Shape dims;
  Shape strides;
  int64_t offset = 0;
};

// Fewer dimensions mean longer lines, so that more of them are whole groups.
StridedRead Joined(const StridedRead& read) {
  StridedRead joined = {.offset = read.offset};
  for (size_t d = 0; d < read.dims.size(); ++d) {
    const int64_t dim = read.dims[d];
    const int64_t stride = read.strides[d];
    if (dim == 1) continue;
    if (!joined.dims.empty() && joined.strides.back() == stride * dim) {
      joined.dims.back() *= dim;
      joined.strides.back() = stride;
    } else {
      joined.dims.push_back(dim);
      joined.strides.push_back(stride);
    }
  }
  return joined;
}

absl::Status BuildStrided(IndexNode& node, const StridedRead& all) {
  PARTITA_RETURN_IF_ERROR(node.SetOperands({OperandUse::kBits}));
  const StridedRead from = Joined(all);
  node.SetPoints(from.dims);
  node.Last([&](const IndexReader& read) -> std::vector<Register> {
    return {read.Element(
        0, read.Offset(node.Point(read), from.strides, from.offset))};
  });
  return absl::OkStatus();
}

// The dimensions [n, c, h, block, w, block] of the plane side, and strides of
// the depth side.
StridedRead DepthSide(const Shape& depth, int64_t block, bool block_first) {
  const int64_t c = depth[1] / (block * block);
  const int64_t h = depth[2];
  const int64_t w = depth[3];
  const int64_t channel = block_first ? 1 : block * block;
  const int64_t down = block_first ? block * c : block;
  const int64_t right = block_first ? c : 1;
  return {.dims = {depth[0], c, h, block, w, block},
          .strides = {depth[1] * h * w, channel * h * w, w, down * h * w, 1,
                      right * h * w}};
}

}  // namespace

absl::Status BuildSameOrder(IndexNode& node) {
  const TensorType& y = node.op().result_type(0);
  if (y.dtype == DType::kBool &&
      node.op().operand_type(0).dtype != DType::kBool) {
    return node.NotGenerated("bits as bools");
  }
  return BuildStrided(node, {.dims = {y.num_elements()}, .strides = {1}});
}

absl::Status BuildTranspose(IndexNode& node) {
  const Shape strides = RowMajorStrides(node.op().operand_type(0).dims);
  StridedRead from = {.dims = node.op().result_type(0).dims};
  for (int64_t axis : node.op().attr_ints("perm")) {
    from.strides.push_back(strides[axis]);
  }
  return BuildStrided(node, from);
}

absl::Status BuildExpand(IndexNode& node) {
  const Shape& dims = node.op().result_type(0).dims;
  return BuildStrided(node, {.dims = dims,
                             .strides = BroadcastStrides(
                                 node.op().operand_type(0).dims, dims)});
}

absl::Status BuildSlice(IndexNode& node) {
  const std::vector<int64_t>& starts = node.op().attr_ints("starts");
  const std::vector<int64_t>& steps = node.op().attr_ints("steps");
  StridedRead from = {
      .dims = node.op().result_type(0).dims,
      .strides = RowMajorStrides(node.op().operand_type(0).dims)};
  for (size_t d = 0; d < from.dims.size(); ++d) {
    from.offset += starts[d] * from.strides[d];
    if (!steps.empty() && from.dims[d] > 1) from.strides[d] *= steps[d];
  }
  return BuildStrided(node, from);
}

absl::Status BuildDepthToSpace(IndexNode& node) {
  return BuildStrided(node, DepthSide(node.op().operand_type(0).dims,
                                      node.op().attr_int("block"),
                                      node.op().attr_string("mode") == "dcr"));
}

absl::Status BuildSpaceToDepth(IndexNode& node) {
  const Shape& x = node.op().operand_type(0).dims;
  const int64_t block = node.op().attr_int("block");
  const int64_t h = x[2] / block;
  const int64_t w = x[3] / block;
  const int64_t plane = x[2] * x[3];
  // Depth is [block, block, c].
  return BuildStrided(
      node, {.dims = {x[0], block, block, x[1], h, w},
             .strides = {x[1] * plane, x[3], 1, plane, block * x[3], block}});
}

absl::Status BuildSplit(IndexNode& node, int result) {
  const OpView& op = node.op();
  const TensorType& x = op.operand_type(0);
  const int axis = AxisAttr(op, "axis", x.rank());
  StridedRead from = {.dims = op.result_type(result).dims,
                      .strides = RowMajorStrides(x.dims)};
  for (int i = 0; i < result; ++i) {
    from.offset += op.result_type(i).dims[axis] * from.strides[axis];
  }
  return BuildStrided(node, from);
}

}  // namespace partita
