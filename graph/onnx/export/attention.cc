// Exports attention as ONNX's two products and a softmax.
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <utility>

#include "graph/onnx/export/node_export.h"
#include "graph/ops/attention_dims.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// Heads before positions: the op's order, or its inverse.
std::string Reordered(NodeExport& node, const std::string& x,
                      const AttentionDims& d) {
  if (!d.positions_first) return x;
  return node.Step("Transpose", {x}).Ints("perm", {0, 2, 1, 3}).output();
}

std::string Reshaped(NodeExport& node, const std::string& x,
                     absl::string_view what, std::vector<int64_t> shape) {
  return node.Step("Reshape", {x, node.Ints(what, std::move(shape))}).output();
}

// Stacks the rows of all the queries that share a head of keys.
std::string Grouped(NodeExport& node, const std::string& x,
                    const AttentionDims& d, int64_t columns) {
  if (d.group() == 1) return x;
  return Reshaped(node, x, "grouped",
                  {d.samples, d.kv_heads, d.group() * d.queries, columns});
}
std::string Ungrouped(NodeExport& node, const std::string& x,
                      const AttentionDims& d, int64_t columns) {
  if (d.group() == 1) return x;
  return Reshaped(node, x, "ungrouped",
                  {d.samples, d.heads, d.queries, columns});
}

// What is added to scores: minus infinity for keys that a query does not see.
std::string Hidden(NodeExport& node, const AttentionDims& d) {
  HostTensor mask(TensorType{node.dtype(0), {d.queries, d.keys}, {}});
  for (int64_t i = 0; i < d.queries; ++i) {
    for (int64_t j = d.Seen(i); j < d.keys; ++j) {
      SetFromDouble(mask, i * d.keys + j,
                    -std::numeric_limits<double>::infinity());
    }
  }
  return node.Constant("hidden", std::move(mask));
}

std::string Times(NodeExport& node, const std::string& x,
                  absl::string_view what, double factor) {
  return node.Step("Mul", {x, node.Scalar(what, node.dtype(0), Number(factor))})
      .output();
}

std::string Scores(NodeExport& node, const AttentionDims& d) {
  const double softcap = node.op().attr_float("softcap");
  const std::string queries =
      Grouped(node, Reordered(node, node.operand(0), d), d, d.size);
  const std::vector<int64_t> transposed =
      d.positions_first ? std::vector<int64_t>{0, 2, 3, 1}
                        : std::vector<int64_t>{0, 1, 3, 2};
  const OnnxNode keys =
      node.Step("Transpose", {node.operand(1)}).Ints("perm", transposed);
  const OnnxNode products = node.Step("MatMul", {queries, keys.output()});
  std::string scores =
      Times(node, Ungrouped(node, products.output(), d, d.keys), "scale",
            node.op().attr_float("scale"));
  if (softcap > 0) {
    scores = Times(node, scores, "inverse_cap", 1 / softcap);
    scores = Times(node, node.Step("Tanh", {scores}).output(), "cap", softcap);
  }
  if (node.op().num_operands() > 3) {
    scores = node.Step("Add", {scores, node.operand(3)}).output();
  }
  if (!d.causal) return scores;
  return node.Step("Add", {scores, Hidden(node, d)}).output();
}

// The probabilities of a query that sees no key: NaN, or zeros.
std::string Probabilities(NodeExport& node, const AttentionDims& d) {
  const std::string probabilities =
      node.Step("Softmax", {Scores(node, d)}).Int("axis", -1).output();
  if (!node.op().attr_bool("zero_blind")) return probabilities;
  const OnnxNode blind = node.Step("IsNaN", {probabilities}, DType::kBool);
  return node
      .Step("Where",
            {blind.output(), node.Scalar("none", node.dtype(0), Number(0)),
             probabilities},
            node.dtype(0))
      .output();
}

absl::Status Attention(NodeExport& node) {
  const AttentionDims d(node.op());
  const std::string values = Reordered(node, node.operand(2), d);
  const NodeExport::Names factors = {
      Grouped(node, Probabilities(node, d), d, d.keys), values};
  if (d.group() == 1 && !d.positions_first) {
    node.Give("MatMul", factors);
    return absl::OkStatus();
  }
  const std::string means = node.Step("MatMul", factors).output();
  if (!d.positions_first) {
    node.Give("Reshape",
              {means, node.Ints("ungrouped", {d.samples, d.heads, d.queries,
                                              d.value_size})});
    return absl::OkStatus();
  }
  node.Give("Transpose", {Ungrouped(node, means, d, d.value_size)})
      .Ints("perm", {0, 2, 1, 3});
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {{&kAttention, "", Attention}};

}  // namespace

extern constinit const ExportFamily kAttentionExports = {kRows};

}  // namespace partita
