// The words for why a node runs where it does.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "placement/planner/planner.h"
#include "placement/planner/refusal.h"

namespace partita {
namespace {

std::string SecondsText(double seconds) {
  if (seconds >= 1) return absl::StrFormat("%.3g s", seconds);
  if (seconds >= 1e-3) return absl::StrFormat("%.3g ms", seconds * 1e3);
  return absl::StrFormat("%.3g us", seconds * 1e6);
}

}  // namespace

std::string ReasonText(const Graph& graph, const PlacedNode& node) {
  const std::string value =
      node.value.valid() ? absl::StrCat(" ", ValueText(graph, node.value)) : "";
  switch (node.reason) {
    case Reason::kOnlyDevice:
      return "only_device";
    case Reason::kPinned:
      return "pinned";
    case Reason::kNearConstant:
      return absl::StrCat("near_constant", value);
    case Reason::kFollows:
      return absl::StrCat("follows", value);
    case Reason::kOnlyKernel:
      return "only_kernel";
    case Reason::kMemoryFull:
      return "memory_full";
    case Reason::kCheaperBy:
      return absl::StrCat("cheaper_by ", SecondsText(node.seconds));
    case Reason::kStage:
      break;
  }
  return absl::StrCat("stage ", node.stage);
}

}  // namespace partita
