// Step 3b: new values of variables that can be made where they will stay.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_UPDATES_H_
#define PARTITA_PLACEMENT_LOWER_UPDATES_H_

#include "absl/status/status.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// Drops an update's copy where its source can be written straight into the
// variable: every reader of the old value comes earlier in the stream of the
// writer, or is the writer, by an operand that its kernel lets it overwrite.
// Where each device has made a share of the value, and an exchange gathers
// them, the share is written to its place in the variable alike, and the
// exchange brings the others.
// Needs: launch order.
void WriteUpdatesInPlace(PlanDraft& draft);

// With steps that overlap, a variable that is updated must be touched by one
// stream only, which keeps the steps' order. Unimplemented otherwise.
absl::Status CheckUpdatesOverlap(const PlanDraft& draft);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_UPDATES_H_
