// Which values are bytes of others.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_VIEWS_H_
#define PARTITA_PLACEMENT_LOWER_VIEWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op_view.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Result `result` of a node is the bytes of an operand from `offset` on.
struct ViewOf {
  int operand = 0;
  int64_t offset = 0;
};

// One entry per result if the node needs no command, else nothing. What it says
// holds on every member of the node's device set.
std::optional<std::vector<ViewOf>> FindViews(const PlanDraft& draft,
                                             const OpView& op);

// Where `part` lies in `whole`, another piece of the same value's elements, in
// bytes. Nothing if it is no interval of it, or one that no buffer may begin
// at.
std::optional<int64_t> OffsetInside(const PlanDraft& draft, const Piece& part,
                                    const Piece& whole);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_VIEWS_H_
