// Collects seeds, and converts drafts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/search_seeds.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/op_view.h"
#include "placement/planner/strategies.h"

namespace partita {
namespace {

// The most devices for which each number of replicas is a seed.
constexpr int64_t kMostCounted = 8;
// Bytes of a gradient below which the latency of a collective dominates.
constexpr int64_t kLargeUpdate = int64_t{64} << 10;

// The strategies that make seeds, and the objective for which they lower
// nothing: everything fits, as far as they can ask.
class SeedCollector {
 public:
  explicit SeedCollector(const SearchSpace& space)
      : space_(space),
        request_(space.request),
        objective_(space.request.objective) {
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
    if (space_.splits.num_ranks() > 1) AddSplits();
    return std::move(seeds_);
  }

 private:
  PlanRequest RequestWith(const PlannerOptions& options) const {
    return {request_.costs, objective_, options};
  }

  void Add(absl::StatusOr<Draft> draft) {
    if (!draft.ok()) return;
    std::optional<ItemDraft> items = ItemDraftOf(space_, *draft);
    if (items.has_value()) {
      AddItems(*std::move(items));
    } else {
      seeds_.others.push_back(*std::move(draft));
    }
  }

  void AddItems(ItemDraft items) {
    if (absl::c_linear_search(seeds_.items, items)) return;
    seeds_.items.push_back(std::move(items));
  }

  // Nodes without a kernel there go to the first device that has one.
  void AddAlone(MachineDeviceId device) {
    Draft draft(request_.graph());
    PutPinned(request_, draft);
    for (const FlowItem& item : space_.flow.items) {
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

  // With many devices, not every number of replicas.
  void AddData() {
    const int64_t devices = space_.splits.num_ranks();
    for (int64_t replicas = 2;
         replicas<devices; devices> kMostCounted ? replicas *= 2 : ++replicas) {
      AddReplicas(replicas, request_.options.sharded_update_bytes);
    }
    if (devices < 2) return;
    AddReplicas(devices, request_.options.sharded_update_bytes);
    AddShardedUpdates(devices);
  }

  // Unless the user chose which updates to shard: all, or those of variables
  // whose transfer takes longer than a latency.
  void AddShardedUpdates(int64_t devices) {
    if (request_.options.sharded_update_bytes.has_value()) return;
    if (request_.graph().updates().empty()) return;
    AddReplicas(devices, 0);
    AddReplicas(devices, kLargeUpdate);
  }

  void AddReplicas(int64_t replicas, std::optional<int64_t> sharded_updates) {
    PlannerOptions options = request_.options;
    options.replicas = replicas;
    options.sharded_update_bytes = sharded_updates;
    Add(DraftData(RequestWith(options)));
  }

  // `alone` places the pinned items.
  void AddSplits() {
    if (seeds_.items.empty()) return;
    const ItemDraft alone = seeds_.items.front();
    for (int dim : {0, 1, -1}) AddSplit(alone, dim);
  }

  void AddSplit(ItemDraft items, int dim) {
    const std::vector<MachineDeviceId>& devices = space_.splits.devices();
    for (size_t i = 0; i < items.size(); ++i) {
      const NodeId node = space_.flow.items[i].node;
      if (request_.pin(node) != nullptr) continue;
      if (!request_.costs.cost(node, devices.front()).can_run) return;
      items[i] = {{devices.begin(), devices.end()},
                  SplitAlong(static_cast<int>(i), dim)};
    }
    seeds_.splits.push_back(items);
    AddItems(std::move(items));
  }

  // The split of the first result along this dimension; -1 is the last.
  int SplitAlong(int item, int dim) const {
    const OpView node = request_.graph().view(space_.flow.items[item].node);
    if (node.num_results() == 0) return ItemPlace::kWhole;
    return space_.splits.Along(
        item, dim < 0 ? node.result_type(0).rank() + dim : dim);
  }

  const SearchSpace& space_;
  const PlanRequest& request_;
  Objective objective_;
  SearchSeeds seeds_;
};

}  // namespace

SearchSeeds FindSearchSeeds(const SearchSpace& space) {
  return SeedCollector(space).Run();
}

}  // namespace partita
