// Converts drafts of items from and to drafts of all nodes.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/item_draft.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "graph/op_view.h"
#include "graph/shard.h"
#include "graph/views.h"

namespace partita {
namespace {

std::optional<ItemPlace> PlaceOf(const SearchSpace& space, int item,
                                 const NodeDevices& node) {
  ItemPlace place{{node.devices.begin(), node.devices.end()}};
  absl::c_sort(place.devices);
  const bool is_pinned =
      space.request.pin(space.flow.items[item].node) != nullptr;
  if (!node.sharded() || is_pinned) return place;
  if (!absl::c_equal(node.devices, space.splits.devices())) return std::nullopt;
  const std::vector<ItemSplit>& splits = space.splits.of(item);
  const auto same = absl::c_find_if(splits, [&](const ItemSplit& split) {
    return split.operands == node.operands && split.results == node.results;
  });
  if (same == splits.end()) return std::nullopt;
  place.split = static_cast<int>(same - splits.begin());
  return place;
}

// Splits the views of split values.
class ViewSplitter {
 public:
  ViewSplitter(const SearchSpace& space, Draft& draft)
      : space_(space),
        costs_(space.request.costs),
        graph_(space.request.graph()),
        draft_(draft) {}

  void Run() {
    for (NodeId node : costs_.order()) {
      if (IsFree(node)) SplitLikeOperand(graph_.view(node));
    }
    // Backwards: readers come before what they read.
    for (auto it = costs_.order().rbegin(); it != costs_.order().rend(); ++it) {
      if (IsFree(*it)) SplitLikeReader(graph_.view(*it));
    }
  }

 private:
  bool IsFree(NodeId node) const {
    return costs_.is_view(node) && draft_.assignment[node].devices.empty();
  }

  void Split(NodeId node, std::optional<Placement> placement, ValueId with) {
    if (!placement.has_value()) return;
    const std::vector<MachineDeviceId>& devices = space_.splits.devices();
    draft_.assignment[node] = {{devices.begin(), devices.end()},
                               std::move(placement->operands),
                               std::move(placement->results)};
    draft_.why[node].reason = Reason::kFollows;
    draft_.why[node].value = with;
  }

  void SplitLikeOperand(const OpView& view) {
    const int operand = ViewsOf(view)->front().operand;
    const ValueId viewed = view.operand(operand).id();
    const NodeId maker = graph_.value(viewed).defining_node;
    if (!maker.valid()) return;
    const NodeDevices& made = draft_.assignment[maker];
    const Sharding sharding =
        ShardingOf(made.results, graph_.value(viewed).index);
    if (!IsSplit(made, sharding)) return;
    Split(view.id(), space_.splits.SplitByOperand(view, operand, sharding),
          viewed);
  }

  void SplitLikeReader(const OpView& view) {
    const int operand = ViewsOf(view)->front().operand;
    const NodeId maker = graph_.value(view.operand(operand).id()).defining_node;
    const bool is_of_source =
        !maker.valid() || costs_.is_stored(maker) || IsFree(maker);
    const auto& uses = graph_.value(view.result(0).id()).uses;
    if (!is_of_source || uses.empty()) return;
    const Use& use = uses.front();
    const NodeDevices& reader = draft_.assignment[use.node];
    const Sharding sharding = ShardingOf(reader.operands, use.operand);
    if (!IsSplit(reader, sharding)) return;
    Split(view.id(), space_.splits.SplitByResult(view, 0, sharding),
          view.result(0).id());
  }

  bool IsSplit(const NodeDevices& node, const Sharding& sharding) const {
    return sharding.kind == Sharding::Kind::kSplit &&
           absl::c_equal(node.devices, space_.splits.devices());
  }

  const SearchSpace& space_;
  const CostModel& costs_;
  const Graph& graph_;
  Draft& draft_;
};

}  // namespace

std::vector<ItemPlace> PlacesToTry(const SearchSpace& space, int item) {
  std::vector<ItemPlace> places;
  if (space.request.pin(space.flow.items[item].node) != nullptr) return places;
  for (MachineDeviceId device : space.request.costs.devices()) {
    places.push_back({{device}});
  }
  const std::vector<MachineDeviceId>& shared = space.splits.devices();
  const ItemDevices all(shared.begin(), shared.end());
  const auto& splits = space.splits.of(item);
  if (splits.empty()) return places;
  places.push_back({all});
  for (size_t split = 0; split < splits.size(); ++split) {
    places.push_back({all, static_cast<int>(split)});
  }
  return places;
}

ItemPlace PlaceLike(const SearchSpace& space, int item, int other,
                    ItemPlace place) {
  if (place.split == ItemPlace::kWhole) return place;
  place.split = space.splits.SplitLike(item, other, place.split);
  return place;
}

std::optional<ItemDraft> ItemDraftOf(const SearchSpace& space,
                                     const Draft& draft) {
  ItemDraft items;
  for (size_t i = 0; i < space.flow.items.size(); ++i) {
    std::optional<ItemPlace> place = PlaceOf(
        space, static_cast<int>(i), draft.assignment[space.flow.items[i].node]);
    if (!place.has_value()) return std::nullopt;
    items.push_back(*std::move(place));
  }
  return items;
}

Draft DraftOf(const SearchSpace& space, const ItemDraft& items) {
  const PlanRequest& request = space.request;
  Draft draft(request.graph());
  PutPinned(request, draft);
  for (size_t i = 0; i < items.size(); ++i) {
    const NodeId node = space.flow.items[i].node;
    if (request.pin(node) != nullptr) continue;
    NodeDevices& place = draft.assignment[node];
    place.devices = items[i].devices;
    draft.why[node].reason = Reason::kSearched;
    if (items[i].split == ItemPlace::kWhole) continue;
    const ItemSplit& split =
        space.splits.of(static_cast<int>(i))[items[i].split];
    place.operands = split.operands;
    place.results = split.results;
  }
  ViewSplitter(space, draft).Run();
  PutFollowers(request, draft);
  return draft;
}

}  // namespace partita
