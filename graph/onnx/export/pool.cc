// Exports pools.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/algorithm/container.h"
#include "graph/onnx/export/node_export.h"
#include "graph/onnx/export/window_attributes.h"
#include "graph/onnx/window_attributes.h"
#include "graph/ops/op_list.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

// `otherwise` for each dimension if the list is empty.
std::vector<int64_t> ListOf(const OpView& op, const char* name,
                            int64_t otherwise) {
  const std::vector<int64_t>& list = op.attr_ints(name);
  if (!list.empty()) return list;
  return std::vector<int64_t>(op.attr_ints("kernel").size(), otherwise);
}

OnnxWindow WindowOf(const OpView& op) {
  return {.kernel = op.attr_ints("kernel"),
          .strides = ListOf(op, "strides", 1),
          .dilations = ListOf(op, "dilations", 1),
          .before = ListOf(op, "pads_before", 0),
          .after = ListOf(op, "pads_after", 0),
          .ceil_extra = {}};
}

// End padding larger than the pads is the effect of ceil_mode.
absl::Status SetCeilMode(NodeExport& node, OnnxNode& written) {
  const std::vector<int64_t>& extra = node.op().attr_ints("ceil_extra");
  if (extra.empty()) return absl::OkStatus();
  if (extra == CeilExtra(WindowOf(node.op()), node.op().operand_type(0).dims)) {
    written.Int("ceil_mode", 1);
    return absl::OkStatus();
  }
  if (absl::c_count(extra, 0) == static_cast<int64_t>(extra.size())) {
    return absl::OkStatus();
  }
  return node.Unsupported("ceil_extra of another length than ceil_mode has it",
                          "the length that lets the last window end");
}

absl::Status MaxPool(NodeExport& node) {
  OnnxNode written = node.Give(node.operands());
  SetWindow(written, node.op(), node.op().attr_ints("kernel"));
  SetDilations(written, node.op());
  return SetCeilMode(node, written);
}

absl::Status AveragePool(NodeExport& node) {
  const std::vector<int64_t> dilations = ListOf(node.op(), "dilations", 1);
  if (absl::c_count(dilations, 1) != static_cast<int64_t>(dilations.size())) {
    return node.Unsupported("dilations of an average", "none");
  }
  OnnxNode written = node.Give(node.operands());
  SetWindow(written, node.op(), node.op().attr_ints("kernel"));
  written.Int("count_include_pad", node.op().attr_bool("count_include_pad"));
  return SetCeilMode(node, written);
}

constexpr ExportRow kRows[] = {
    {&kAvgPool, "AveragePool", AveragePool},
    {&kMaxPool, "MaxPool", MaxPool},
};

}  // namespace

extern constinit const ExportFamily kPoolExports = {kRows};

}  // namespace partita
