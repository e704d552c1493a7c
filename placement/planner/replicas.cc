// Strategy `data`: the batch divided among replicas of the model.
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
#include "placement/partition/divide_batch.h"
#include "placement/partition/divide_updates.h"
#include "placement/planner/flow.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

// The first of the devices, and each behind it that is as fast as those before,
// and joined to all of them by links.
std::vector<int> EqualToFirst(const CostModel& costs,
                              absl::Span<const int> devices) {
  std::vector<int> group;
  for (int device : devices) {
    const bool joined = absl::c_all_of(group, [&](int other) {
      return costs.SameSpeed(device, other) &&
             costs.link(device, other) != nullptr;
    });
    if (joined) group.push_back(device);
  }
  absl::c_sort(group);
  return group;
}

// Devices that are as fast, and joined by links: a group for each that may be
// the first of one, the fastest's first.
std::vector<std::vector<int>> EqualDevices(const PlanRequest& request) {
  const std::vector<int> choice = DevicesToChoose(request);
  std::vector<int> devices = FastestFirst(request.costs);
  std::erase_if(devices, [&](int device) {
    return !absl::c_linear_search(choice, device);
  });
  std::vector<std::vector<int>> groups;
  for (size_t i = 0; i < devices.size(); ++i) {
    groups.push_back(
        EqualToFirst(request.costs, absl::MakeConstSpan(devices).subspan(i)));
  }
  // Only those that can run all, if any can.
  const auto cannot = [&](const std::vector<int>& group) {
    return !CheckRunsAll(request, group.front()).ok();
  };
  if (!absl::c_all_of(groups, cannot)) std::erase_if(groups, cannot);
  return groups;
}

absl::Status TooFewDevices(const PlanRequest& request,
                           const std::vector<int>& most) {
  std::vector<std::string> names;
  for (int device : most) names.push_back(request.costs.device_name(device));
  const int asked = request.options.replicas;
  const bool one = most.size() == 1;
  return OfOption(
      "replicas",
      absl::FailedPreconditionError(absl::StrCat(
          "replicas: found ", asked, "; expected at most ", most.size(),
          ", as ",
          one ? "no two equal devices have links"
              : absl::StrCat(absl::StrJoin(names, ", "),
                             " are the equal devices with links"),
          "; take ",
          one ? "one replica" : absl::StrCat(most.size(), " replicas"),
          ", or a machine with ", asked, " such devices")));
}

// 1. Of the groups that have a device for each replica that is wanted, two if
// the option does not say, the fastest. What follows the variables of another
// graph takes those that keep them.
absl::StatusOr<std::vector<int>> Replicas(const PlanRequest& request,
                                          const Batch& batch) {
  const std::vector<std::vector<int>> groups = EqualDevices(request);
  const int asked = request.options.replicas;
  const size_t wanted = static_cast<size_t>(asked > 0 ? asked : 2);
  const auto enough = absl::c_find_if(
      groups, [&](const auto& group) { return group.size() >= wanted; });
  if (enough == groups.end() && asked > 0 &&
      !request.options.follows_variables) {
    return TooFewDevices(
        request, *absl::c_max_element(groups, [](const auto& a, const auto& b) {
          return a.size() < b.size();
        }));
  }
  std::vector<int> replicas = enough == groups.end() ? groups.front() : *enough;
  const size_t most = asked > 0 ? wanted : replicas.size();
  replicas.resize(
      std::min({replicas.size(), most,
                static_cast<size_t>(std::max<int64_t>(1, batch.extent))}));
  return replicas;
}

// True for a constant or variable whose first reader is pinned: it lies where
// that is, as under other strategies, and not with every replica.
bool LiesWithPin(const PlanRequest& request, NodeId node,
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

// 2. The parts of the batch, and what every replica needs whole.
Draft Divide(const PlanRequest& request, const Batch& batch,
             const std::vector<int>& replicas) {
  const Graph& graph = request.graph();
  Draft draft(graph);
  PutPinned(request, draft);
  absl::InlinedVector<std::string, 1> names;
  for (int device : replicas)
    names.push_back(request.costs.device_name(device));
  std::vector<bool> is_pinned(graph.node_id_bound(), false);
  for (NodeId node : request.costs.order()) {
    is_pinned[node.index] = !draft.assignment[node.index].devices.empty();
  }
  BatchDivision division = DivideBatch(graph, batch, names, is_pinned);
  if (const auto least = request.options.divided_update_bytes) {
    DivideUpdates(graph, std::move(names), is_pinned, *least, division);
  }
  for (NodeId node : request.costs.order()) {
    if (is_pinned[node.index] || LiesWithPin(request, node, is_pinned)) {
      continue;
    }
    const Placement& cut = division.cuts[node.index];
    NodeDevices& place = draft.assignment[node.index];
    place.devices.assign(replicas.begin(), replicas.end());
    place.operands = cut.operands;
    place.results = cut.results;
    draft.why[node.index].reason = cut.placed()          ? Reason::kDivided
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
  PARTITA_ASSIGN_OR_RETURN(const std::vector<int> replicas,
                           Replicas(request, batch));
  PARTITA_RETURN_IF_ERROR(CheckRunsAll(request, replicas.front()));
  Draft draft = Divide(request, batch, replicas);
  PARTITA_RETURN_IF_ERROR(CheckLinks(request, draft));
  const std::optional<Shortage> shortage = FindShortage(request, draft);
  if (!shortage.has_value()) return draft;
  return RefusalError(ExplainShortage(request, draft, *shortage));
}

}  // namespace partita
