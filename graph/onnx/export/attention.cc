// Attention in ONNX's words: two products and a softmax.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <limits>
#include <utility>

#include "graph/onnx/export/node_export.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// Queries, keys or values of x [3, n, heads, positions, size].
std::string Part(NodeExport& node, const OnnxNode& parts,
                 absl::string_view what, int64_t index) {
  return node.Step("Gather", {parts.output(), node.Int(what, index)})
      .Int("axis", 0)
      .output();
}

// What is added to scores: minus infinity for positions behind the query's.
std::string Mask(NodeExport& node) {
  const int64_t positions = node.op().operand_type(0).dims[1];
  HostTensor mask(TensorType{node.dtype(0), {positions, positions}, {}});
  for (int64_t i = 0; i < positions; ++i) {
    for (int64_t j = i + 1; j < positions; ++j) {
      SetFromDouble(mask, i * positions + j,
                    -std::numeric_limits<double>::infinity());
    }
  }
  return node.Constant("mask", std::move(mask));
}

std::string Scores(NodeExport& node, const OnnxNode& parts) {
  const double size = static_cast<double>(node.op().operand_type(0).dims[4]);
  const OnnxNode keys = node.Step("Transpose", {Part(node, parts, "keys", 1)})
                            .Ints("perm", {0, 1, 3, 2});
  const OnnxNode products =
      node.Step("MatMul", {Part(node, parts, "queries", 0), keys.output()});
  const OnnxNode scores = node.Step(
      "Mul", {products.output(), node.Scalar("scale", node.dtype(0),
                                             Number(1 / std::sqrt(size)))});
  if (!node.op().attr_bool("causal")) return scores.output();
  return node.Step("Add", {scores.output(), Mask(node)}).output();
}

absl::Status Attention(NodeExport& node) {
  const OnnxNode parts =
      node.Step("Transpose", {node.operand(0)}).Ints("perm", {2, 0, 3, 1, 4});
  const OnnxNode shares =
      node.Step("Softmax", {Scores(node, parts)}).Int("axis", -1);
  const OnnxNode means =
      node.Step("MatMul", {shares.output(), Part(node, parts, "values", 2)});
  node.Give("Transpose", {means.output()}).Ints("perm", {0, 2, 1, 3});
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {{&kAttention, "", Attention}};

}  // namespace

absl::Span<const ExportRow> AttentionExports() { return kRows; }

}  // namespace partita
