// Strategy `data`: the batch divided among replicas of the model.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/batch.h"
#include "graph/status_macros.h"
#include "placement/partition/divide_batch.h"
#include "placement/planner/flow.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

// 1. The fastest device and those as fast, all of them linked, as many as the
// batch or the option allows.
std::vector<int> Replicas(const PlanRequest& request) {
  const CostModel& costs = request.costs;
  const std::vector<int> choice = DevicesToChoose(request);
  const auto may = [&](int d) { return absl::c_linear_search(choice, d); };
  const std::vector<int> ranked = FastestFirst(costs);
  const int fastest = *absl::c_find_if(ranked, may);
  std::vector<int> replicas;
  for (int device : LinkedDevices(costs)) {
    if (may(device) && costs.SameSpeed(device, fastest)) {
      replicas.push_back(device);
    }
  }
  if (replicas.empty()) replicas = {fastest};
  const int64_t batch = std::max<int64_t>(1, BatchOf(request.graph()));
  size_t most = static_cast<size_t>(
      std::min<int64_t>(batch, static_cast<int64_t>(replicas.size())));
  const int asked = request.options.replicas;
  if (asked > 0) most = std::min(most, static_cast<size_t>(asked));
  replicas.resize(most);
  return replicas;
}

// 2. The parts of the batch, and what every replica needs whole.
Draft Divide(const PlanRequest& request, const std::vector<int>& replicas) {
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
  const BatchDivision division =
      DivideBatch(graph, std::move(names), is_pinned);
  for (NodeId node : request.costs.order()) {
    if (is_pinned[node.index]) continue;
    const Placement& cut = division.cuts[node.index];
    NodeDevices& place = draft.assignment[node.index];
    place.devices.assign(replicas.begin(), replicas.end());
    place.operands = cut.operands;
    place.results = cut.results;
    draft.why[node.index].reason = cut.placed()          ? Reason::kDivided
                                   : replicas.size() < 2 ? Reason::kOnlyDevice
                                                         : Reason::kReplicated;
  }
  return draft;
}

}  // namespace

absl::StatusOr<Draft> DraftData(const PlanRequest& request) {
  const std::vector<int> replicas = Replicas(request);
  PARTITA_RETURN_IF_ERROR(CheckRunsAll(request, replicas.front()));
  Draft draft = Divide(request, replicas);
  PARTITA_RETURN_IF_ERROR(CheckLinks(request, draft));
  const std::optional<Shortage> shortage = FindShortage(request, draft);
  if (!shortage.has_value()) return draft;
  return RefusalError(ExplainShortage(request, draft, *shortage));
}

}  // namespace partita
