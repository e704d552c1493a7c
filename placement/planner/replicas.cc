// Strategy `data`: the batch sharded over replicas of the model.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "graph/batch.h"
#include "graph/option_error.h"
#include "graph/status_macros.h"
#include "placement/partition/shard_batch.h"
#include "placement/partition/shard_updates.h"
#include "placement/planner/flow.h"
#include "placement/planner/placement_draft.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

// The first device, and each later one of the same speed that is linked to all
// taken before it.
std::vector<MachineDeviceId> EqualToFirst(
    const CostModel& costs, absl::Span<const MachineDeviceId> devices) {
  std::vector<MachineDeviceId> group;
  for (MachineDeviceId device : devices) {
    const bool linked = absl::c_all_of(group, [&](MachineDeviceId other) {
      return costs.SameSpeed(device, other) &&
             costs.link(device, other) != nullptr;
    });
    if (linked) group.push_back(device);
  }
  absl::c_sort(group);
  return group;
}

// Groups of identical, mutually linked devices: one group for each first
// device, fastest first.
std::vector<std::vector<MachineDeviceId>> EqualDevices(
    const PlanRequest& request) {
  const std::vector<MachineDeviceId> choice = DevicesToChoose(request);
  std::vector<MachineDeviceId> devices = FastestFirst(request.costs);
  std::erase_if(devices, [&](MachineDeviceId device) {
    return !absl::c_linear_search(choice, device);
  });
  std::vector<std::vector<MachineDeviceId>> groups;
  for (size_t i = 0; i < devices.size(); ++i) {
    groups.push_back(
        EqualToFirst(request.costs, absl::MakeConstSpan(devices).subspan(i)));
  }
  // Keeps only groups that can run all nodes, if there are any.
  const auto cannot = [&](const std::vector<MachineDeviceId>& group) {
    return !CheckRunsAll(request, group.front()).ok();
  };
  if (!absl::c_all_of(groups, cannot)) std::erase_if(groups, cannot);
  return groups;
}

absl::Status TooFewDevices(const PlanRequest& request,
                           const std::vector<MachineDeviceId>& most) {
  std::vector<std::string> names;
  for (MachineDeviceId device : most) {
    names.push_back(request.costs.device_name(device));
  }
  const int64_t asked = request.options.replicas.value_or(0);
  const bool one = most.size() == 1;
  return OfOption(
      "replicas",
      absl::FailedPreconditionError(absl::StrCat(
          "replicas: found ", asked, "; expected at most ", most.size(),
          ", as ",
          one ? "no two identical devices have links"
              : absl::StrCat(absl::StrJoin(names, ", "),
                             " are the identical devices with links"),
          "; take ",
          one ? "one replica" : absl::StrCat(most.size(), " replicas"),
          ", or a machine with ", asked, " such devices")));
}

// 1. The fastest group with a device for each requested replica (default: two).
// A graph that follows the variables of another function uses the devices that
// store them.
absl::StatusOr<std::vector<MachineDeviceId>> Replicas(
    const PlanRequest& request, const Batch& batch) {
  const std::vector<std::vector<MachineDeviceId>> groups =
      EqualDevices(request);
  const bool asked = request.options.replicas.has_value();
  const auto wanted = static_cast<size_t>(request.options.replicas.value_or(2));
  const auto enough = absl::c_find_if(
      groups, [&](const auto& group) { return group.size() >= wanted; });
  if (enough == groups.end() && asked && !request.options.follows_variables) {
    return TooFewDevices(
        request, *absl::c_max_element(groups, [](const auto& a, const auto& b) {
          return a.size() < b.size();
        }));
  }
  std::vector<MachineDeviceId> replicas =
      enough == groups.end() ? groups.front() : *enough;
  const size_t most = asked ? wanted : replicas.size();
  replicas.resize(
      std::min({replicas.size(), most,
                static_cast<size_t>(std::max<int64_t>(1, batch.extent))}));
  return replicas;
}

// True for a constant or variable whose first reader is pinned. It is stored
// with this reader, as in other strategies, not on every replica.
bool FollowsPin(const PlanRequest& request, NodeId node,
                const std::vector<bool>& is_pinned) {
  if (!request.costs.is_stored(node)) return false;
  NodeId first;
  for (ValueId result : request.graph().node(node).results) {
    for (const Use& use : request.graph().value(result).uses) {
      if (!first.valid() ||
          request.costs.position(use.node) < request.costs.position(first)) {
        first = use.node;
      }
    }
  }
  return first.valid() && is_pinned[first.index];
}

// 2. Shards the batch and replicates the other nodes.
Draft Shard(const PlanRequest& request, const Batch& batch,
            const std::vector<MachineDeviceId>& replicas) {
  const Graph& graph = request.graph();
  Draft draft(graph);
  PutPinned(request, draft);
  absl::InlinedVector<std::string, 1> names;
  for (MachineDeviceId device : replicas)
    names.push_back(request.costs.device_name(device));
  std::vector<bool> is_pinned(graph.node_id_bound(), false);
  for (NodeId node : request.costs.order()) {
    is_pinned[node.index] = !draft.assignment[node].devices.empty();
  }
  BatchSharding sharding = ShardBatch(graph, batch, names, is_pinned);
  if (const auto least = request.options.sharded_update_bytes) {
    ShardUpdates(graph, std::move(names), is_pinned, *least, sharding);
  }
  for (NodeId node : request.costs.order()) {
    if (is_pinned[node.index] || FollowsPin(request, node, is_pinned)) {
      continue;
    }
    const Placement& sharded = sharding.nodes[node];
    NodeDevices& place = draft.assignment[node];
    place.devices.assign(replicas.begin(), replicas.end());
    place.operands = sharded.operands;
    place.results = sharded.results;
    draft.why[node].reason = sharded.placed()      ? Reason::kSharded
                             : replicas.size() < 2 ? Reason::kOnlyDevice
                                                   : Reason::kReplicated;
  }
  PutFollowers(request, draft);
  return draft;
}

}  // namespace

absl::StatusOr<Draft> DraftData(const PlanRequest& request) {
  const Batch batch = request.options.batch.has_value()
                          ? *request.options.batch
                          : FindBatch(request.graph());
  PARTITA_ASSIGN_OR_RETURN(const std::vector<MachineDeviceId> replicas,
                           Replicas(request, batch));
  PARTITA_RETURN_IF_ERROR(CheckRunsAll(request, replicas.front()));
  Draft draft = Shard(request, batch, replicas);
  PARTITA_RETURN_IF_ERROR(CheckLinks(request, draft));
  return draft;
}

}  // namespace partita
