// Writes signatures.
// SPDX-License-Identifier: Apache-2.0

#include "placement/cost/node_signature.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/core_ops.h"
#include "graph/literal_pool.h"
#include "graph/node_key.h"
#include "graph/op_def.h"

namespace partita {
namespace {

// Of the types that people see; the hash covers all of them.
constexpr size_t kMostTypesBytes = 256;

std::string HashOf(absl::string_view text) {
  return HashBytes(
             absl::MakeConstSpan(
                 reinterpret_cast<const std::byte*>(text.data()), text.size()))
      .ToString();
}

std::string TypesText(const OpView& node) {
  std::vector<std::string> operands;
  std::vector<std::string> results;
  for (int i = 0; i < node.num_operands(); ++i) {
    operands.push_back(node.operand_type(i).RowMajor().ToString());
  }
  for (int i = 0; i < node.num_results(); ++i) {
    results.push_back(node.result_type(i).RowMajor().ToString());
  }
  std::string text = absl::StrCat(absl::StrJoin(operands, ", "), " -> ",
                                  absl::StrJoin(results, ", "));
  if (text.size() <= kMostTypesBytes) return text;
  return absl::StrCat(text.substr(0, kMostTypesBytes), "..");
}

std::string LayoutsText(const std::vector<Layout>& layouts) {
  return absl::StrJoin(
      layouts, ", ", [](std::string* out, const Layout& layout) {
        out->append(layout.is_row_major() ? "-" : layout.ToString());
      });
}

std::string ChoiceText(const KernelChoice& choice) {
  const std::string layouts =
      choice.any_layout ? std::string("any layout")
                        : absl::StrCat(LayoutsText(choice.operands), " -> ",
                                       LayoutsText(choice.results));
  return absl::StrCat("by ", choice.kernel.ToString(), " (",
                      ArithmeticsText(choice.arithmetics), ") ", layouts);
}

// The op of the body with the most operations: its kernel is built around it.
absl::string_view LargestOp(const Graph& body) {
  absl::string_view largest = "nothing";
  double most = -1;
  for (const OpView& op : body.ops()) {
    if (op.is(kConstant) || op.op().cost == nullptr) continue;
    const double flops = op.op().cost(op).flops;
    if (flops <= most) continue;
    most = flops;
    largest = op.op_name();
  }
  return largest;
}

}  // namespace

NodeSignatures::NodeSignatures(const OpView& node, const DeviceTraits& device)
    : family_(FamilyOf(node, device)),
      node_(absl::StrCat(family_.op, " ", TypesText(node), " #",
                         HashOf(NodeKey(node)), " ")),
      device_(absl::StrCat(" on ", DeviceKindName(device.kind), " ", device.isa,
                           " threads ", device.threads)) {}

std::string NodeSignatures::Of(const KernelChoice& choice) const {
  std::string chosen = ChoiceText(choice);
  // Nodes of hundreds of operands, and kernels of many arithmetics.
  if (node_.size() + chosen.size() + device_.size() > kMostSignatureBytes) {
    chosen = absl::StrCat("by #", HashOf(chosen));
  }
  return absl::StrCat(node_, chosen, device_);
}

std::string SignatureOf(const OpView& node, const DeviceTraits& device,
                        const KernelChoice& choice) {
  return NodeSignatures(node, device).Of(choice);
}

KernelFamily FamilyOf(const OpView& node, const DeviceTraits& device) {
  KernelFamily family = {.op = std::string(node.op_name()),
                         .device = device.kind};
  if (node.is(kFused)) {
    family.op = absl::StrCat("fused ", LargestOp(node.region(0)));
  }
  family.dtype = node.num_operands() > 0  ? node.operand_type(0).dtype
                 : node.num_results() > 0 ? node.result_type(0).dtype
                                          : DType::kF32;
  return family;
}

std::string VersionOf(const KernelChoice& choice) {
  if (choice.arithmetics.empty() || choice.arithmetics[0].source.empty()) {
    return choice.kernel.ToString();
  }
  return choice.arithmetics[0].source;
}

MeasuredNode UnmeasuredNode(const OpView& node, const DeviceTraits& device,
                            const KernelChoice& choice) {
  const NodeSignatures signatures(node, device);
  return {.signature = signatures.Of(choice),
          .family = signatures.family(),
          .kernel = choice.kernel.ToString(),
          .version = VersionOf(choice),
          .fallback = choice.fallback,
          .roofline = choice.seconds};
}

}  // namespace partita
