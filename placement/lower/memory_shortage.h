// The error for a device that is too small for a lowered function.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_
#define PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_

#include "absl/status/status.h"
#include "placement/lower/plan_draft.h"
#include "placement/lower/refusal.h"

namespace partita {

// ResourceExhausted: names the node at which most bytes are live on the device,
// and the largest tensors there.
absl::Status ShortageError(const PlanDraft& draft,
                           const MemoryShortage& shortage);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_
