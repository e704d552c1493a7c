// Ids that drafts, clocks and live ranges share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_IDS_H_
#define PARTITA_PLACEMENT_LOWER_IDS_H_

#include "graph/ids.h"

namespace partita {

// A command of any kind except records and waits: of a draft an index into
// PlanDraft::tasks, of a plan a number in launch order.
using TaskId = Id<struct TaskTag>;
// One of the streams that access a device, in the order of their StreamIds.
using DeviceStreamId = Id<struct DeviceStreamTag>;

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_IDS_H_
