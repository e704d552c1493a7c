// The memory that values and workspaces take with all steps in flight.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_BYTES_IN_FLIGHT_H_
#define PARTITA_PLACEMENT_PLANNER_BYTES_IN_FLIGHT_H_

#include <cstdint>

#include "placement/cost/cost_model.h"
#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"

namespace partita {

// What strategies fill Objective::memory_limits with. Steps in flight share
// constants, variables and the new values of variables, which are made in
// place. Each step has all other values, and workspaces, of its own. Request
// and flow must outlive it.
class BytesInFlight {
 public:
  BytesInFlight(const PlanRequest& request, const Flow& flow)
      : costs_(request.costs), flow_(flow), depth_(request.objective.depth) {}

  // Bytes on each device that has the root value, while it is live.
  int64_t Of(ValueId value) const;
  // Bytes while the node runs on the device.
  int64_t WorkspaceOf(NodeId node, MachineDeviceId device) const;

 private:
  const CostModel& costs_;
  const Flow& flow_;
  const int64_t depth_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_BYTES_IN_FLIGHT_H_
