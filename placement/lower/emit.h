// The entry of a plan from a finished draft.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_EMIT_H_
#define PARTITA_PLACEMENT_LOWER_EMIT_H_

#include "placement/lower/clocks.h"
#include "placement/lower/plan_draft.h"
#include "runtime/plan/plan.h"

namespace partita {

// Emits buffers, streams, persistent values, ports and programs. Without
// micro-batches there is one program, invoked once; with them, one for each
// distinct form of a unit run. The record of its event follows each task that
// others wait for. `devices`: the plan's.
Entry Emit(const PlanDraft& draft, const Clocks& clocks,
           const IdVector<MachineDeviceId, DeviceId>& devices);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_EMIT_H_
