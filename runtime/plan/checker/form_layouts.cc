// Form of layouts: nodes without kernels pass bytes on as they are.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/check_layouts.h"
#include "runtime/plan/checker/form.h"

namespace partita {

void CheckLayouts(const EntryView& view, Findings& findings) {
  for (const OpView& node : view.graph().ops()) {
    const absl::Status status = CheckLayouts(node);
    if (status.ok()) continue;
    findings.Add(view.Found(
        Rule::kShape,
        absl::StrCat(view.NodeText(node.id()), ": ", status.message(),
                     "; put a reorder before it")));
    if (findings.full()) return;
  }
}

}  // namespace partita
