// Finds when the bytes of each storage are live.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LIVE_RANGES_H_
#define PARTITA_PLACEMENT_LOWER_LIVE_RANGES_H_

#include <vector>

#include "absl/types/span.h"
#include "placement/lower/device_clocks.h"
#include "placement/lower/live_range.h"
#include "placement/lower/pack.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// The step part of the arena of one device as a packing problem. FindConflicts
// adds the conflicts.
struct DeviceStorages {
  IdVector<PackBufferId, StorageId> storages;
  PackProblem problem;
  IdVector<PackIntervalId, LiveRange> live_ranges;
  int64_t bound = 0;  // no layout takes fewer bytes
};

// The tasks that access the memory of each device, ascending.
IdVector<MachineDeviceId, std::vector<TaskId>> TasksByDevice(
    const PlanDraft& draft);

// `tasks`: the tasks that access the device.
DeviceStorages FindLiveRanges(const PlanDraft& draft,
                              const DeviceClocks& clocks,
                              absl::Span<const TaskId> tasks,
                              MachineDeviceId device);

// Intervals by first access.
std::vector<PackIntervalId> ByFirstAccess(
    const IdVector<PackIntervalId, LiveRange>& live_ranges);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LIVE_RANGES_H_
