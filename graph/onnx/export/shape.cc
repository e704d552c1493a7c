// Exports ops that change or query shapes.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/algorithm/container.h"
#include "graph/onnx/export/node_export.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// A 0 keeps the operand's extent unless allowzero is set.
absl::Status Reshape(NodeExport& node) {
  const std::vector<int64_t>& shape = node.op().attr_ints("shape");
  OnnxNode written = node.Give({node.operand(0), node.Ints("shape", shape)});
  if (absl::c_linear_search(shape, 0)) written.Int("allowzero", 1);
  return absl::OkStatus();
}

absl::Status Expand(NodeExport& node) {
  node.Give(
      {node.operand(0), node.Ints("shape", node.op().attr_ints("shape"))});
  return absl::OkStatus();
}

absl::Status ShapeOf(NodeExport& node) {
  node.Give(node.operands())
      .Int("start", node.op().attr_int("start"))
      .Int("end", std::min<int64_t>(node.op().attr_int("end"), node.rank(0)));
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kExpand, "Expand", Expand},
    {&kReshape, "Reshape", Reshape},
    {&kShape, "Shape", ShapeOf},
    {&kSize, "Size"},
};

}  // namespace

extern constinit const ExportFamily kShapeExports = {kRows};

}  // namespace partita
