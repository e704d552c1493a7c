// Exports ops that select and place elements by index.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/onnx/export/node_export.h"
#include "graph/ops/op_list.h"

namespace partita {
namespace {

// ONNX counts every negative index from the end.
absl::Status CheckFromEnd(const NodeExport& node) {
  if (node.op().attr_bool("from_end")) return absl::OkStatus();
  return node.Unsupported("from_end = false", "true");
}

absl::Status GatherElements(NodeExport& node) {
  node.Give(node.operands());
  return CheckFromEnd(node);
}

// Maximum and minimum came with opset 18.
absl::Status SetReduction(const NodeExport& node, OnnxNode& written) {
  const std::string reduction = node.op().attr_string("reduction");
  if (reduction != "none" && reduction != "add" && reduction != "mul") {
    return node.Unsupported(absl::StrCat("reduction \"", reduction, "\""),
                            "\"none\", \"add\" or \"mul\"");
  }
  written.String("reduction", reduction);
  return absl::OkStatus();
}

absl::Status ScatterElements(NodeExport& node) {
  OnnxNode written = node.Give(node.operands());
  const absl::Status status = SetReduction(node, written);
  return status.ok() ? CheckFromEnd(node) : status;
}

absl::Status ScatterNd(NodeExport& node) {
  OnnxNode written = node.Give(node.operands());
  return SetReduction(node, written);
}

absl::Status OneHot(NodeExport& node) {
  node.Give({node.operand(0), node.Int("depth", node.op().attr_int("depth")),
             node.operand(1)});
  return absl::OkStatus();
}

absl::Status TopK(NodeExport& node) {
  node.Give({node.operand(0), node.Ints("k", {node.op().attr_int("k")})});
  return absl::OkStatus();
}

constexpr ExportRow kRows[] = {
    {&kGather, "Gather", ExportAlike, {{"axis"}}},
    {&kGatherElements, "GatherElements", GatherElements, {{"axis"}}},
    {&kGatherNd, "GatherND", ExportAlike, {{"batch_dims"}}},
    {&kOneHot, "OneHot", OneHot, {{"axis"}}},
    {&kScatterElements, "ScatterElements", ScatterElements, {{"axis"}}},
    {&kScatterNd, "ScatterND", ScatterNd},
    {&kTopK, "TopK", TopK, {{"axis"}, {"largest"}}},
};

}  // namespace

extern constinit const ExportFamily kIndexExports = {kRows};

}  // namespace partita
