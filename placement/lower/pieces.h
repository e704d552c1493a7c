// Step 1: what each device holds of each value.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_PIECES_H_
#define PARTITA_PLACEMENT_LOWER_PIECES_H_

#include "absl/status/status.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// The elements of a value that a piece holds: per dimension from `begin` to
// `end`.
struct Box {
  Shape begin;
  Shape end;
};
Box BoxOf(const TensorType& whole, const Sharding& sharding, int member,
          int members);
Box BoxOf(const PlanDraft& draft, const Piece& piece);

// How the value lies on the devices of PlacementOf(value).
Sharding ShardingOf(const PlanDraft& draft, ValueId value);

// Fills in `pieces` and `first_piece`. FailedPrecondition if a node has no
// device, or reads a value that is not on its device in the sharding that its
// placement says (copies excepted).
absl::Status CutPieces(PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_PIECES_H_
