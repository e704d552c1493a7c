// Shards pinned nodes as partition will, and finds the pin of a failing node.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/pin_divisions.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/core_ops.h"
#include "graph/option_error.h"
#include "placement/cost/node_roles.h"
#include "placement/partition/sharded_placement.h"

namespace partita {
namespace {

// The nodes in a fused node's body; any other node itself.
std::vector<OpView> PartsOf(const OpView& node) {
  if (!node.is(kFused)) return {node};
  std::vector<OpView> parts = node.region(0).ops();
  std::erase_if(parts, [](const OpView& part) { return part.is(kConstant); });
  return parts;
}

// True if the pin placed this node. A fused node counts if its body has the
// pinned node's name: passes keep names.
bool Wrote(const WrittenPin& pin, int function, const OpView& node) {
  const std::vector<OpView> parts = PartsOf(node);
  return absl::c_any_of(pin.nodes, [&](const WrittenPin::On& on) {
    if (on.function != function) return false;
    if (on.node == node.id()) return true;
    return !on.name.empty() && absl::c_any_of(parts, [&](const OpView& part) {
      return part.num_results() > 0 && part.result(0).name() == on.name;
    });
  });
}

// "pin c=cpu:0,cpu:1/split2: ". Empty if the placement is in the graph's text;
// then the message names the node.
std::string PinOf(absl::Span<const WrittenPin> pins, int function,
                  const OpView& node) {
  for (const WrittenPin& pin : pins) {
    if (pin.is_in_text || !Wrote(pin, function, node)) continue;
    return absl::StrCat("pin ", pin.text, ": ");
  }
  return "";
}

absl::Status CheckPinnedNode(absl::Span<const WrittenPin> pins, int function,
                             const OpView& node) {
  const absl::Status status = ShardNode(node, node.node().placement).status();
  if (status.ok()) return status;
  const std::string parts =
      node.is(kFused) ? absl::StrCat(TextWithParts(node), ": ") : "";
  const std::string pin = PinOf(pins, function, node);
  const absl::Status fault(status.code(),
                           absl::StrCat(pin, parts, status.message()));
  return pin.empty() ? fault : OfOption("pin", fault);
}

}  // namespace

std::string TextWithParts(const OpView& node) {
  if (!node.is(kFused)) return node.ToString();
  std::vector<std::string> parts;
  for (const OpView& part : PartsOf(node)) parts.push_back(part.ToString());
  const std::string last = parts.empty() ? "nothing" : parts.back();
  if (!parts.empty()) parts.pop_back();
  return absl::StrCat(node.ToString(), ", made of ", absl::StrJoin(parts, ", "),
                      parts.empty() ? "" : " and ", last);
}

absl::Status CheckPinDivisions(const Module& module,
                               absl::Span<const WrittenPin> pins) {
  for (size_t i = 0; i < module.functions().size(); ++i) {
    for (const OpView& node : module.functions()[i]->ops()) {
      if (!node.node().placement.placed() || IsStored(node)) continue;
      const absl::Status status =
          CheckPinnedNode(pins, static_cast<int>(i), node);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
