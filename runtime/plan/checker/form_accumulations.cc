// Form of accumulations over micro-batches.
// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "graph/core_ops.h"
#include "runtime/plan/checker/form.h"

namespace partita {

void CheckAccumulations(const EntryView& view, Findings& findings) {
  for (const OpView& node : view.graph().ops(kAccumulate)) {
    const int64_t micro_batches = node.attr_int("micro_batches");
    if (micro_batches == view.micro_batches()) continue;
    findings.Add(view.Found(
        Rule::kShape,
        absl::StrCat(view.NodeText(node.id()), ": found a sum over ",
                     micro_batches, " micro-batches in an entry of ",
                     view.micro_batches(),
                     "; expected as many; run each micro-batch once")));
    if (findings.full()) return;
  }
}

}  // namespace partita
