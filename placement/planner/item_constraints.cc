// Checks, completes and repairs drafts.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/item_constraints.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"

namespace partita {
namespace {

using Devices = std::vector<MachineDeviceId>;

}  // namespace

ItemConstraints::ItemConstraints(const SearchSpace& space)
    : space_(space),
      constraints_(space.request.constraints == nullptr
                       ? Constraints()
                       : *space.request.constraints),
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
        const int item = item_of_[node.index];
        constrained_.push_back(item);
        if (!is_together) continue;
        sets_.back().push_back(item);
        set_of_[item] = static_cast<int>(sets_.size()) - 1;
      }
    }
  }
  absl::c_sort(constrained_);
  constrained_.erase(std::unique(constrained_.begin(), constrained_.end()),
                     constrained_.end());
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
  // By item of the move; the first of a set decides.
  for (size_t i = 0; i < move.size(); ++i) {
    const auto [item, place] = move[i];
    if (set_of_[item] < 0) continue;
    for (int partner : sets_[set_of_[item]]) {
      const bool is_known = absl::c_any_of(
          move, [&](const auto& moved) { return moved.first == partner; });
      if (is_known || IsPinned(partner)) continue;
      move.emplace_back(partner, PlaceLike(space_, partner, item, place));
    }
  }
  return move;
}

// The devices with a kernel, that of the draft first.
std::vector<MachineDeviceId> ItemConstraints::Preferred(const ItemDraft& draft,
                                                        int item) const {
  Devices devices =
      AllowedDevices(space_.request, space_.flow.items[item].node);
  const ItemDevices& now = draft[item].devices;
  absl::c_stable_partition(
      devices, [&](MachineDeviceId device) { return device == now.front(); });
  return devices;
}

std::optional<ItemDraft> ItemConstraints::Repair(ItemDraft draft) const {
  if (Allow(draft)) return draft;
  DeviceProblem problem;
  std::vector<int> variable_of(space_.request.graph().node_id_bound(), -1);
  std::vector<int> items = constrained_;
  if (constraints_.most_devices().has_value()) {
    items.resize(draft.size());
    absl::c_iota(items, 0);
  }
  for (int item : items) {
    variable_of[space_.flow.items[item].node.index] =
        static_cast<int>(problem.allowed.size());
    problem.allowed.push_back(Preferred(draft, item));
  }
  problem.rules = RulesOf(constraints_, variable_of);
  const DeviceSolution solution = SolveDevices(problem);
  if (!solution.exists) return std::nullopt;
  for (size_t v = 0; v < items.size(); ++v) {
    if (!IsPinned(items[v])) draft[items[v]] = {{solution.devices[v]}};
  }
  if (!Allow(draft)) return std::nullopt;
  return draft;
}

}  // namespace partita
