// A draft placement: devices by id, and the steps that all strategies share.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_PLACEMENT_DRAFT_H_
#define PARTITA_PLACEMENT_PLANNER_PLACEMENT_DRAFT_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/id_vector.h"
#include "placement/cost/cost_model.h"
#include "placement/planner/planner.h"

namespace partita {

using MemoryLimits = IdSpan<MachineDeviceId, int64_t>;  // bytes

// A placement with the devices' ids. No devices: not placed.
struct NodeDevices {
  absl::InlinedVector<MachineDeviceId, 1> devices;
  std::vector<Sharding> operands;
  std::vector<Sharding> results;
  // Each device runs one shard of the node.
  bool sharded() const { return !results.empty(); }
};
using Assignment = IdVector<NodeId, NodeDevices>;

class Constraints;  // constraints.h

// The input of a strategy.
struct PlanRequest {
  const CostModel& costs;
  const Objective& objective;
  const PlannerOptions& options;
  // Null: none. A strategy need not read them: drafts that break one are
  // refused.
  const Constraints* constraints = nullptr;

  const Graph& graph() const { return costs.graph(); }
  MemoryLimits limits() const { return MemoryLimits(objective.memory_limits); }
  // The user's placement of a node, or null.
  const Placement* pin(NodeId node) const {
    const Placement& placement = graph().node(node).placement;
    return placement.placed() ? &placement : nullptr;
  }
};

// The devices that a strategy may use, ascending: all of them or, if the graph
// follows the variables of another function, those that store one.
std::vector<MachineDeviceId> DevicesToChoose(const PlanRequest& request);

// `why` has only reasons; its placements stay empty.
struct Draft {
  explicit Draft(const Graph& graph)
      : assignment(graph.node_id_bound()), why(graph.node_id_bound()) {}

  Assignment assignment;
  IdVector<NodeId, PlacedNode> why;
};

void Put(Draft& draft, NodeId node, MachineDeviceId device, PlacedNode why);
// Puts every pinned node, except stored ones, on its pin's devices.
void PutPinned(const PlanRequest& request, Draft& draft);

// Puts views with the producer of their bytes. Puts stored values, and views of
// inputs and stored values, with their first reader. Call when every computing
// node has a device.
void PutFollowers(const PlanRequest& request, Draft& draft);
// FailedPrecondition for the first value that crosses between two devices
// without a link, or between a device and a host that it has no link to.
absl::Status CheckLinks(const PlanRequest& request, const Draft& draft);
// Device names instead of ids, by node id.
std::vector<Placement> PlacementsOf(const PlanRequest& request,
                                    const Draft& draft);
PlacementTable ToTable(const PlanRequest& request, const Draft& draft,
                       absl::string_view strategy);

// Unimplemented if some node runs nowhere, or not on its only allowed device.
absl::Status CheckKernelsExist(const CostModel& costs);
// Unimplemented if the device has no kernel for a node that is not pinned.
// FailedPrecondition if such a node reads an input or makes an output, and the
// device has no ports.
absl::Status CheckRunsAll(const PlanRequest& request, MachineDeviceId device);
// Seconds of the slowest of the node's devices: of the whole node or, if its
// pin shards it, of a rank.
double SecondsOf(const CostModel& costs, NodeId node,
                 const NodeDevices& devices);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_PLACEMENT_DRAFT_H_
