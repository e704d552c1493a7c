// Exports matrix products and convolutions.
// SPDX-License-Identifier: Apache-2.0

#include <numeric>
#include <utility>

#include "graph/onnx/export/node_export.h"
#include "graph/onnx/export/window_attributes.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// The operand with its last two dimensions swapped.
std::string Transposed(NodeExport& node, int operand) {
  const int rank = node.rank(operand);
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[rank - 2], perm[rank - 1]);
  return node.Step("Transpose", {node.operand(operand)})
      .Ints("perm", perm)
      .output();
}

// ONNX's MatMul takes matrices unchanged, its Gemm two of them transposed.
absl::Status MatMul(NodeExport& node) {
  const bool transpose_a = node.op().attr_bool("transpose_a");
  const bool transpose_b = node.op().attr_bool("transpose_b");
  if (!transpose_a && !transpose_b) return ExportAlike(node);
  if (node.rank(0) == 2 && node.rank(1) == 2) {
    node.Give("Gemm", node.operands())
        .Int("transA", transpose_a)
        .Int("transB", transpose_b);
    return absl::OkStatus();
  }
  NodeExport::Names inputs = node.operands();
  if (transpose_a) inputs[0] = Transposed(node, 0);
  if (transpose_b) inputs[1] = Transposed(node, 1);
  node.Give(inputs);
  return absl::OkStatus();
}

OnnxNode GiveConv(NodeExport& node) {
  OnnxNode written = node.Give(node.operands());
  const TensorType& weights = node.op().operand_type(1);
  SetWindow(written, node.op(), {weights.dims.begin() + 2, weights.dims.end()});
  SetDilations(written, node.op());
  return written;
}

absl::Status Conv(NodeExport& node) {
  GiveConv(node);
  return absl::OkStatus();
}

absl::Status ConvTranspose(NodeExport& node) {
  OnnxNode written = GiveConv(node);
  const std::vector<int64_t>& padding = node.op().attr_ints("output_padding");
  if (!padding.empty()) written.Ints("output_padding", padding);
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kConv, "Conv", Conv, {{"group", "groups"}}},
    {&kConvTranspose, "ConvTranspose", ConvTranspose, {{"group", "groups"}}},
    {&kDet, "Det"},
    {&kMatmul, "MatMul", MatMul},
};

}  // namespace

extern constinit const ExportFamily kLinearExports = {kRows};

}  // namespace partita
