// The difference of two plans as the viewer shows it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TOOLS_VIEWER_DIFF_VIEW_H_
#define PARTITA_TOOLS_VIEWER_DIFF_VIEW_H_

#include <utility>
#include <vector>

#include "partita/plan_diff.h"
#include "tools/viewer/plan_view.h"

namespace partita {

// A difference of a node, and its boxes in both views.
struct ChangeView {
  NodeChange change;
  int box_a = -1;
  int box_b = -1;
};

// Entries of the same name.
struct EntryPairView {
  int entry_a = 0;  // of PlanView::entries
  int entry_b = 0;
  EntryDiff diff;
  std::vector<ChangeView> moved;  // as EntryDiff::moved
  std::vector<ChangeView> computed;
  // Boxes of nodes that are pairs, of inputs of the same number, and of outputs
  // of the same name, in the order of the first plan.
  std::vector<std::pair<int, int>> boxes;
};

struct DiffView {
  PlanDiff diff;
  std::vector<EntryPairView> entries;  // as PlanDiff::entries
};

// `diff` is that of the two plans, and the views are theirs.
DiffView ReadDiffView(const Plan& a, const PlanView& view_a, const Plan& b,
                      const PlanView& view_b, PlanDiff diff);

}  // namespace partita

#endif  // PARTITA_TOOLS_VIEWER_DIFF_VIEW_H_
