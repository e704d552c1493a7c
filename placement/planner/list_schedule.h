// One run of list scheduling: the inner step of strategy `list`.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_LIST_SCHEDULE_H_
#define PARTITA_PLACEMENT_PLANNER_LIST_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"

namespace partita {

struct ListOptions {
  std::vector<int> devices;     // for nodes that are not pinned
  std::vector<int64_t> limits;  // bytes, by device
  // Which ready node is next: the highest first; ties by order.
  std::vector<double> priority;  // by item
};

struct ListSchedule {
  Draft draft;          // followers included
  double makespan = 0;  // seconds, links never busy
};

// Places one ready node after another. Where no device has room for a node it
// goes to the one where least is missing; the caller checks the whole.
ListSchedule ScheduleList(const PlanRequest& request, const Flow& flow,
                          const ListOptions& options);

// HEFT's upward ranks by item: mean seconds of the node plus the largest mean
// transfer and rank among its readers.
std::vector<double> UpwardRanks(const PlanRequest& request, const Flow& flow);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_LIST_SCHEDULE_H_
