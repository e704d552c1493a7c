// Checks, completes and repairs drafts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/item_constraints.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"

namespace partita {
ItemConstraints::ItemConstraints(const SearchSpace& space)
    : space_(space),
      constraints_(space.request.constraints == nullptr
                       ? Constraints()
                       : *space.request.constraints),
      shared_pins_(SharedPins(space.request)),
      classes_(constraints_.empty() ? NodeClasses()
                                    : NodeClasses(space.request)),
      item_of_(space.request.graph().node_id_bound(), -1),
      set_of_(space.flow.items.size(), -1) {
  for (size_t i = 0; i < space.flow.items.size(); ++i) {
    item_of_[space.flow.items[i].node.index] = static_cast<int>(i);
  }
  for (const NodeConstraint& constraint : constraints_.nodes()) {
    const bool is_together =
        constraint.constraint.kind == Constraint::Kind::kTogether;
    if (is_together) sets_.emplace_back();
    for (const std::vector<NodeId>& group : constraint.groups) {
      for (NodeId node : group) {
        constrained_.push_back(item_of_[node.index]);
        if (is_together) JoinLast(item_of_[node.index]);
      }
    }
  }
  absl::c_sort(constrained_);
  constrained_.erase(std::unique(constrained_.begin(), constrained_.end()),
                     constrained_.end());
}

// Sets with a common item are one.
void ItemConstraints::JoinLast(int item) {
  const int last = static_cast<int>(sets_.size()) - 1;
  const int other = set_of_[item];
  if (other == last) return;
  std::vector<int> items = {item};
  if (other >= 0) items = std::exchange(sets_[other], {});
  for (int joined : items) {
    set_of_[joined] = last;
    sets_[last].push_back(joined);
  }
}

bool ItemConstraints::IsPinned(int item) const {
  return space_.request.pin(space_.flow.items[item].node) != nullptr;
}

int ItemConstraints::CountDevices(const ItemDraft& draft) const {
  std::vector<char> used(space_.request.costs.num_devices(), 0);
  for (const ItemPlace& place : draft) {
    for (MachineDeviceId device : place.devices) used[device.index] = 1;
  }
  return static_cast<int>(absl::c_count(used, 1));
}

bool ItemConstraints::AreTogether(const ItemDraft& draft,
                                  const NodeConstraint& all) const {
  const ItemDevices* first = nullptr;
  for (const std::vector<NodeId>& group : all.groups) {
    for (NodeId node : group) {
      const ItemDevices& devices = draft[item_of_[node.index]].devices;
      if (first == nullptr) first = &devices;
      if (devices != *first) return false;
    }
  }
  return true;
}

bool ItemConstraints::AreApart(const ItemDraft& draft,
                               const NodeConstraint& all) const {
  std::vector<int> group_of(space_.request.costs.num_devices(), -1);
  for (size_t g = 0; g < all.groups.size(); ++g) {
    for (NodeId node : all.groups[g]) {
      for (MachineDeviceId device : draft[item_of_[node.index]].devices) {
        int& group = group_of[device.index];
        if (group < 0) group = static_cast<int>(g);
        if (group != static_cast<int>(g)) return false;
      }
    }
  }
  return true;
}

bool ItemConstraints::Allow(const ItemDraft& draft) const {
  for (const NodeConstraint& constraint : constraints_.nodes()) {
    const bool is_met =
        constraint.constraint.kind == Constraint::Kind::kTogether
            ? AreTogether(draft, constraint)
            : AreApart(draft, constraint);
    if (!is_met) return false;
  }
  const std::optional<int> most = constraints_.most_devices();
  return !most.has_value() || CountDevices(draft) <= *most;
}

Move ItemConstraints::WithPartners(Move move) const {
  if (sets_.empty()) return move;
  absl::flat_hash_set<int> known;  // items of the move
  for (const auto& [item, place] : move) known.insert(item);
  absl::flat_hash_set<int> complete;  // sets
  // The first item of a set decides.
  const size_t given = move.size();
  for (size_t i = 0; i < given; ++i) {
    const auto [item, place] = move[i];
    const int set = set_of_[item];
    if (set < 0 || !complete.insert(set).second) continue;
    for (int partner : sets_[set]) {
      if (IsPinned(partner) || !known.insert(partner).second) continue;
      move.emplace_back(partner, PlaceLike(space_, partner, item, place));
    }
  }
  return move;
}

// Those of the draft first, then each of these devices alone.
std::vector<DeviceSet> ItemConstraints::Preferred(const ItemDraft& draft,
                                                  int item) const {
  std::vector<DeviceSet> sets =
      AllowedSets(space_.request, space_.flow.items[item].node, shared_pins_);
  const ItemDevices& now = draft[item].devices;
  if (!IsPinned(item) && !absl::c_linear_search(sets, now)) {
    sets.push_back(now);
  }
  const auto rank = [&](const DeviceSet& set) {
    const bool is_part =
        set.size() == 1 && absl::c_linear_search(now, set.front());
    return set == now ? 0 : is_part ? 1 : 2;
  };
  absl::c_stable_sort(sets, [&](const DeviceSet& a, const DeviceSet& b) {
    return rank(a) < rank(b);
  });
  return sets;
}

std::optional<ItemDraft> ItemConstraints::Repair(ItemDraft draft) const {
  if (Allow(draft)) return draft;
  NodeVariables variables(space_.request, classes_);
  const auto add = [&](int item) {
    variables.Add(space_.flow.items[item].node,
                  IsPinned(item) ? DeviceSet() : draft[item].devices,
                  [&] { return Preferred(draft, item); });
  };
  if (constraints_.most_devices().has_value()) {
    for (size_t i = 0; i < draft.size(); ++i) add(static_cast<int>(i));
  } else {
    for (int item : constrained_) add(item);
  }
  const DeviceSolution solution = SolveDevices(
      {variables.allowed(), RulesOf(constraints_, variables.of_nodes())});
  if (!solution.exists) return std::nullopt;
  for (size_t i = 0; i < draft.size(); ++i) {
    const NodeId node = space_.flow.items[i].node;
    if (!variables.Has(node)) continue;
    const DeviceSet& set = solution.sets[variables.of_nodes()[node.index]];
    if (draft[i].devices != set) draft[i] = {set};
  }
  if (!Allow(draft)) return std::nullopt;
  return draft;
}

}  // namespace partita
