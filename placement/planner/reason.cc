// The text of the reason for a node's placement.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/op_view.h"
#include "placement/planner/planner.h"

namespace partita {
namespace {

// Smaller differences in seconds are below the precision of predictions.
constexpr double kLeastDifference = 0.5e-9;

std::string SecondsText(double seconds) {
  struct Unit {
    const char* name;
    double seconds;
  };
  for (const Unit& unit : {Unit{"s", 1}, Unit{"ms", 1e-3}, Unit{"us", 1e-6}}) {
    // 999.6 ms would round to 1e+03 ms.
    if (seconds < 0.9995 * unit.seconds) continue;
    return absl::StrFormat("%.3g %s", seconds / unit.seconds, unit.name);
  }
  return absl::StrFormat("%.3g ns", seconds * 1e9);
}

}  // namespace

std::string ReasonText(const Graph& graph, const PlacedNode& node) {
  const std::string value =
      node.value.valid() ? absl::StrCat(" ", ValueText(graph, node.value)) : "";
  switch (node.reason) {
    case Reason::kOnlyDevice:
      return "only_device";
    case Reason::kBestDevice:
      return "best_device";
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
      // No device is faster: the first of the machine was taken.
      if (node.seconds < kLeastDifference) return "first_of_equals";
      return absl::StrCat("cheaper_by ", SecondsText(node.seconds));
    case Reason::kSharded:
      return "sharded";
    case Reason::kReplicated:
      return "replicated";
    case Reason::kSearched:
      return "searched";
    case Reason::kStage:
      break;
  }
  return absl::StrCat("stage ", node.stage);
}

}  // namespace partita
