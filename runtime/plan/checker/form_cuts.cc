// Form of cuts: nodes are divided only as their ops allow.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "graph/cut.h"
#include "runtime/plan/checker/form.h"

namespace partita {
namespace {

// A constant or variable has all of its values: no member holds a summand.
absl::Status CheckSource(const OpView& node) {
  for (const Sharding& sharding : node.node().placement.results) {
    if (sharding.kind != Sharding::Kind::kPartial) continue;
    return absl::InvalidArgumentError(
        "found a partial value; expected a whole or a split one");
  }
  return absl::OkStatus();
}

// Copies may join and divide values as they like: bytes say whether they do.
absl::Status CheckNode(const OpView& node) {
  if (node.is(kCopy)) return absl::OkStatus();
  if (node.is(kConstant) || node.is(kVariable)) return CheckSource(node);
  return CheckCut(node);
}

}  // namespace

void CheckCuts(const EntryView& view, Findings& findings) {
  for (const OpView& node : view.graph().ops()) {
    const absl::Status status = CheckNode(node);
    if (status.ok()) continue;
    findings.Add(
        view.Found(Rule::kCut, -1,
                   absl::StrCat(view.NodeText(node.id()), ": ",
                                status.message(), "; place it again")));
    if (findings.full()) return;
  }
}

}  // namespace partita
