// What each device holds of each value.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_SHARDS_H_
#define PARTITA_PLACEMENT_LOWER_SHARDS_H_

#include "absl/status/status.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// The elements of a value that a shard holds: [begin, end) in each dimension.
struct Box {
  Shape begin;
  Shape end;
};
Box BoxOf(const TensorType& whole, const Sharding& sharding, int rank,
          int ranks);
Box BoxOf(const PlanDraft& draft, const Shard& shard);

// The sharding of the value over PlacementOf(value).
Sharding ShardingOf(const PlanDraft& draft, ValueId value);

// Fills in `shards`, `first_shard` and `varies`. FailedPrecondition if a node
// has no device, if an operand (except of a copy) is not on the devices of its
// node in the sharding that the node expects, or if an `accumulate` has another
// number of micro-batches than the step.
absl::Status FindShards(PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_SHARDS_H_
