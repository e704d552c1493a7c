// Finds results that are bytes of an operand.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_VIEWS_H_
#define PARTITA_PLACEMENT_LOWER_VIEWS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/op_view.h"
#include "graph/views.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// One entry per result if the node needs no command, else nothing. Holds on
// every rank of the node.
std::optional<std::vector<ViewOf>> FindViews(const PlanDraft& draft,
                                             const OpView& op);

// The offset of `part` in `whole`, in bytes; both are shards of one value.
// Nothing if `part` is not one interval of `whole`, or begins at an offset that
// no buffer may have.
std::optional<int64_t> OffsetInside(const PlanDraft& draft, const Shard& part,
                                    const Shard& whole);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_VIEWS_H_
