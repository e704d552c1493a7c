// Exports reductions.
// SPDX-License-Identifier: Apache-2.0

#include "graph/onnx/export/node_export.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// Without axes ONNX reduces over all dimensions; a scalar has none.
absl::Status Reduce(NodeExport& node) {
  const std::vector<int64_t>& axes = node.op().attr_ints("axes");
  if (axes.empty() && node.rank(0) > 0) {
    return node.Unsupported("no axes", "those to reduce over");
  }
  OnnxNode written = node.Give(node.operands());
  if (!axes.empty()) written.Ints("axes", axes);
  written.Int("keepdims", node.op().attr_bool("keep_dims"));
  return absl::OkStatus();
}

// In this opset the only one with axes as an input, which may be empty.
absl::Status ReduceSum(NodeExport& node) {
  const std::vector<int64_t>& axes = node.op().attr_ints("axes");
  node.Give({node.operand(0), node.Ints("axes", axes)})
      .Int("keepdims", node.op().attr_bool("keep_dims"))
      .Int("noop_with_empty_axes", 1);
  return absl::OkStatus();
}

absl::Status ArgExtreme(NodeExport& node) {
  node.Give(node.operands())
      .Int("axis", node.op().attr_int("axis"))
      .Int("keepdims", node.op().attr_bool("keep_dims"))
      .Int("select_last_index", node.op().attr_bool("last_index"));
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kArgMax, "ArgMax", ArgExtreme},
    {&kArgMin, "ArgMin", ArgExtreme},
    {&kReduceL1, "ReduceL1", Reduce},
    {&kReduceL2, "ReduceL2", Reduce},
    {&kReduceLogSum, "ReduceLogSum", Reduce},
    {&kReduceLogSumExp, "ReduceLogSumExp", Reduce},
    {&kReduceMax, "ReduceMax", Reduce},
    {&kReduceMean, "ReduceMean", Reduce},
    {&kReduceMin, "ReduceMin", Reduce},
    {&kReduceProd, "ReduceProd", Reduce},
    {&kReduceSum, "ReduceSum", ReduceSum},
    {&kReduceSumSquare, "ReduceSumSquare", Reduce},
};

}  // namespace

extern constinit const ExportFamily kReduceExports = {kRows};

}  // namespace partita
