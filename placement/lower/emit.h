// Step 9: the entry of a plan from a finished draft.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_EMIT_H_
#define PARTITA_PLACEMENT_LOWER_EMIT_H_

#include <vector>

#include "placement/lower/clocks.h"
#include "placement/lower/plan_draft.h"
#include "runtime/plan/plan.h"

namespace partita {

struct Emitted {
  Entry entry;
  std::vector<int> commands;  // by task, its command's index
  int num_commands = 0;
};

// Buffers, streams, persistent values, ports and programs: one that is invoked
// once, or, with micro-batches, one for each form of a turn. A task that others
// wait for is followed by the record of its event.
Emitted Emit(const PlanDraft& draft, const Clocks& clocks);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_EMIT_H_
