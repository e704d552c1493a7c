// The steps of lowering before addresses are chosen, in order.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/function_draft.h"

#include <algorithm>
#include <utility>

#include "graph/status_macros.h"
#include "placement/lower/dependencies.h"
#include "placement/lower/device_clocks.h"
#include "placement/lower/in_place.h"
#include "placement/lower/micro_batch_order.h"
#include "placement/lower/persistent.h"
#include "placement/lower/shards.h"
#include "placement/lower/tasks.h"
#include "placement/lower/updates.h"

namespace partita {
namespace {

IdVector<MachineDeviceId, DeviceStorages> FindAllLiveRanges(
    const PlanDraft& draft, const Clocks& clocks) {
  const IdVector<MachineDeviceId, std::vector<TaskId>> tasks =
      TasksByDevice(draft);
  IdVector<MachineDeviceId, DeviceStorages> storages(tasks.size());
  for (MachineDeviceId device : tasks.ids()) {
    if (tasks[device].empty()) continue;
    storages[device] = FindLiveRanges(
        draft, DeviceClocks(clocks, tasks[device]), tasks[device], device);
  }
  return storages;
}

}  // namespace

absl::StatusOr<FunctionDraft> DraftFunction(const FunctionInput& input,
                                            DraftGoal goal) {
  PlanDraft draft;
  draft.graph = &input.graph;
  draft.devices = &input.devices;
  draft.micro_batches = input.micro_batches;
  PARTITA_RETURN_IF_ERROR(FindShards(draft));
  PARTITA_RETURN_IF_ERROR(ListTasks(
      draft, input.machine,
      goal == DraftGoal::kSmall ? PortStreams::kOfKernels : PortStreams::kOwn));
  OrderMicroBatches(draft);
  PARTITA_ASSIGN_OR_RETURN(
      OrderedDraft ordered,
      PutInLaunchOrder(std::move(draft), {goal, input.predict, input.depth}));
  draft = std::move(ordered.draft);
  if (input.depth > 1) PARTITA_RETURN_IF_ERROR(CheckUpdatesOverlap(draft));
  Clocks clocks = ClocksOf(draft);
  ReuseOperands(draft, clocks);
  IdVector<MachineDeviceId, DeviceStorages> storages =
      FindAllLiveRanges(draft, clocks);
  return FunctionDraft{std::move(draft), std::move(clocks), std::move(storages),
                       ordered.least_peak, ordered.step_seconds};
}

IdVector<MachineDeviceId, int64_t> NeededBytes(
    absl::Span<FunctionDraft* const> drafts, int depth,
    const DeviceTable& devices) {
  PersistentArenas persistent(devices);
  IdVector<MachineDeviceId, int64_t> step(devices.names.size(), 0);
  for (const FunctionDraft* function : drafts) {
    persistent.Allocate(function->draft);
    for (MachineDeviceId d : step.ids()) {
      step[d] = std::max(step[d], function->storages[d].bound);
    }
  }
  IdVector<MachineDeviceId, int64_t> needed(devices.names.size(), 0);
  for (MachineDeviceId d : needed.ids()) {
    needed[d] = persistent.bytes(d) + depth * step[d];
  }
  return needed;
}

}  // namespace partita
