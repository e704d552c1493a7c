// Runs one op and prints its result.
// SPDX-License-Identifier: Apache-2.0

#include "graph/ops/testing/run_op.h"

#include "absl/strings/str_cat.h"
#include "graph/evaluate.h"

namespace partita {
namespace {

absl::StatusOr<NodeId> AddOp(const OpDef& op,
                             const std::vector<TensorType>& types,
                             const Attributes& attributes, Graph& graph) {
  NodeSpec spec;
  spec.op = &op;
  spec.attributes = attributes;
  for (const TensorType& type : types) {
    spec.operands.push_back(
        graph.AddInput(absl::StrCat("x", spec.operands.size()), type));
  }
  return graph.AddNode(std::move(spec));
}

}  // namespace

absl::StatusOr<std::vector<HostTensor>> RunOp(
    const OpDef& op, const std::vector<HostTensor>& operands,
    const Attributes& attributes) {
  LiteralPool literals;
  Graph graph("g", &literals);
  std::vector<TensorType> types;
  for (const HostTensor& operand : operands) types.push_back(operand.type());
  const auto node = AddOp(op, types, attributes, graph);
  if (!node.ok()) return node.status();
  return EvaluateNode(graph.view(*node), operands);
}

std::string Show(const HostTensor& tensor) {
  std::string text = tensor.type().ToString();
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    if (tensor.type().dtype == DType::kU64) {
      absl::StrAppend(&text, " ", tensor.data<uint64_t>()[i]);
    } else if (IsFloat(tensor.type().dtype)) {
      absl::StrAppend(&text, " ", GetAsDouble(tensor, i));
    } else {
      absl::StrAppend(&text, " ", ToInt64s(tensor)[i]);
    }
  }
  return text;
}

std::string Show(const OpDef& op, const std::vector<HostTensor>& operands,
                 const Attributes& attributes) {
  const auto results = RunOp(op, operands, attributes);
  if (!results.ok()) return std::string(results.status().message());
  return Show(results->front());
}

HostTensor Counting(Shape dims) {
  HostTensor tensor({DType::kF32, std::move(dims), {}});
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    tensor.data<float>()[i] = static_cast<float>(i);
  }
  return tensor;
}

std::string InferMessage(const OpDef& op, const std::vector<TensorType>& types,
                         const Attributes& attributes) {
  LiteralPool literals;
  Graph graph("g", &literals);
  const auto node = AddOp(op, types, attributes, graph);
  if (!node.ok()) return std::string(node.status().message());
  return graph.view(*node).result_type(0).ToString();
}

}  // namespace partita
