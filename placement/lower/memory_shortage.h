// A device that is too small for what was lowered, told as planners tell it.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_
#define PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_

#include "absl/status/status.h"
#include "placement/lower/emit.h"
#include "placement/lower/plan_draft.h"
#include "placement/planner/refusal.h"

namespace partita {

// The function's fullest command on the device, and its largest tensors there.
absl::Status ShortageError(const PlanDraft& draft, const Emitted& emitted,
                           const MemoryShortage& shortage);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_MEMORY_SHORTAGE_H_
