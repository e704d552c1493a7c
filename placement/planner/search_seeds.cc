// Collects seeds, and converts drafts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_seeds.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "placement/planner/split_moves.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

// The strategies that make seeds, and the objective for which they lower
// nothing: everything fits, as far as they can ask.
class SeedCollector {
 public:
  SeedCollector(const PlanRequest& request, const Flow& flow)
      : request_(request),
        flow_(flow),
        equal_devices_(EqualDevices(request.costs)),
        objective_(request.objective) {
    objective_.predict = nullptr;
    objective_.needed_bytes = [this](absl::Span<const Placement>) {
      return std::vector<int64_t>(request_.costs.num_devices(), 0);
    };
  }

  SearchSeeds Run() {
    for (MachineDeviceId device : request_.costs.devices()) AddAlone(device);
    Add(DraftList(RequestWith(request_.options)));
    Add(DraftPipeline(RequestWith(request_.options)));
    Add(DraftPinned(RequestWith(request_.options)));
    if (!request_.options.follows_variables) AddData();
    if (equal_devices_.size() > 1) AddSplits();
    return std::move(seeds_);
  }

 private:
  PlanRequest RequestWith(const PlannerOptions& options) const {
    return {request_.costs, objective_, options};
  }

  void Add(absl::StatusOr<Draft> draft) {
    if (!draft.ok()) return;
    std::optional<WholeDraft> whole = WholeDraftOf(request_, flow_, *draft);
    if (!whole.has_value()) {
      seeds_.sharded.push_back(*std::move(draft));
    } else if (!absl::c_linear_search(seeds_.whole, *whole)) {
      seeds_.whole.push_back(*std::move(whole));
    }
  }

  // Nodes without a kernel there go to the first device that has one.
  void AddAlone(MachineDeviceId device) {
    Draft draft(request_.graph());
    PutPinned(request_, draft);
    for (const FlowItem& item : flow_.items) {
      if (request_.pin(item.node) != nullptr) continue;
      const auto can_run = [&](MachineDeviceId d) {
        return request_.costs.cost(item.node, d).can_run;
      };
      MachineDeviceId chosen = device;
      if (!can_run(device)) {
        for (MachineDeviceId other : request_.costs.devices()) {
          if (can_run(other)) {
            chosen = other;
            break;
          }
        }
      }
      Put(draft, item.node, chosen, {.reason = Reason::kSearched});
    }
    PutFollowers(request_, draft);
    Add(std::move(draft));
  }

  void AddData() {
    const auto devices = static_cast<int64_t>(equal_devices_.size());
    for (int64_t replicas = 2; replicas < devices; replicas *= 2) {
      AddReplicas(replicas);
    }
    if (devices > 1) AddReplicas(devices);
  }

  void AddReplicas(int64_t replicas) {
    PlannerOptions options = request_.options;
    options.replicas = replicas;
    Add(DraftData(RequestWith(options)));
  }

  void AddSplits() {
    for (int dim : kSplitDimensions) {
      std::optional<Draft> split = SplitAll(request_, equal_devices_, dim);
      if (split.has_value()) Add(*std::move(split));
    }
  }

  const PlanRequest& request_;
  const Flow& flow_;
  const std::vector<MachineDeviceId> equal_devices_;
  Objective objective_;
  SearchSeeds seeds_;
};

}  // namespace

std::optional<WholeDraft> WholeDraftOf(const PlanRequest& request,
                                       const Flow& flow, const Draft& draft) {
  WholeDraft whole;
  for (const FlowItem& item : flow.items) {
    const NodeDevices& place = draft.assignment[item.node];
    if (place.sharded() && request.pin(item.node) == nullptr) {
      return std::nullopt;
    }
    whole.emplace_back(place.devices.begin(), place.devices.end());
    absl::c_sort(whole.back());
  }
  return whole;
}

Draft DraftOf(const PlanRequest& request, const Flow& flow,
              const WholeDraft& whole) {
  Draft draft(request.graph());
  PutPinned(request, draft);
  for (size_t i = 0; i < flow.items.size(); ++i) {
    const NodeId node = flow.items[i].node;
    if (request.pin(node) != nullptr) continue;
    draft.assignment[node] = {.devices = whole[i]};
    draft.why[node].reason = Reason::kSearched;
  }
  PutFollowers(request, draft);
  return draft;
}

SearchSeeds FindSearchSeeds(const PlanRequest& request, const Flow& flow) {
  return SeedCollector(request, flow).Run();
}

}  // namespace partita
