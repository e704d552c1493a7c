// Writes new values of variables in place.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_UPDATES_H_
#define PARTITA_PLACEMENT_LOWER_UPDATES_H_

#include "absl/status/status.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Drops the copy of an update if its source can be written straight into the
// variable. The condition: every reader of the old value comes earlier in the
// stream of the writer, or is the writer, by an operand that its kernel may
// overwrite. With a sharded optimizer each device computes one shard of the new
// value and an all-gather distributes the shards. Then each shard is written at
// its offset in the variable, and the all-gather adds the others; not so if
// another task reads the shard before the all-gather. Needs: launch order.
void WriteUpdatesInPlace(PlanDraft& draft);

// Checks that, with overlapping steps, only one stream accesses each updated
// variable; the stream keeps the steps in order. Unimplemented otherwise.
absl::Status CheckUpdatesOverlap(const PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_UPDATES_H_
