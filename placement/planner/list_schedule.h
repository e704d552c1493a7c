// One run of list scheduling, the inner step of strategy `list`.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_LIST_SCHEDULE_H_
#define PARTITA_PLACEMENT_PLANNER_LIST_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"

namespace partita {

struct ListOptions {
  std::vector<MachineDeviceId> devices;  // for nodes that are not pinned
  MemoryLimits limits;
  // The ready node with the highest priority is next; ties go by order.
  std::vector<double> priority;  // by item
};

struct ListSchedule {
  Draft draft;          // followers included
  double makespan = 0;  // seconds, without contention on links
};

// Places ready nodes one at a time. If no device has room for a node, it goes
// to the device with the smallest shortage; the caller checks the whole
// schedule.
ListSchedule ScheduleList(const PlanRequest& request, const Flow& flow,
                          const ListOptions& options);

// HEFT's upward ranks, by item: mean seconds of the node, plus the largest sum
// of mean transfer and rank over its readers.
std::vector<double> UpwardRanks(const PlanRequest& request, const Flow& flow);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_LIST_SCHEDULE_H_
