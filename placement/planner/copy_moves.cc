// Moves that compute an item on several devices in place of a transfer.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "placement/planner/move_list.h"

namespace partita {
namespace {

// Items that are computed again at once.
constexpr size_t kMostRecomputed = 16;

void AddWithMakersOf(const MoveSpace& space, int item,
                     const ItemDevices& devices, MoveList& list) {
  const Flow& flow = space.space.flow;
  Move move;
  list.AddTo(move, item, {devices});
  if (move.empty()) return;
  for (ValueId source : flow.items[item].sources) {
    const int maker = flow.values[source].maker;
    if (maker < 0 || list.UpdatesVariable(maker)) continue;
    list.AddTo(move, maker, {list.With(maker, devices)});
  }
  if (move.size() > 1) list.Add(std::move(move));
}

// The items that a device computes anew to make the results of `item` itself,
// cheaper together than their transfer; backwards from the item.
class Recomputation {
 public:
  Recomputation(const MoveSpace& space, int item, const MoveList& list)
      : space_(space),
        costs_(space.space.request.costs),
        flow_(space.space.flow),
        list_(list),
        item_(item) {}

  std::vector<int> ItemsOn(MachineDeviceId device) const {
    double left = TransferSeconds(device);
    std::vector<int> items;
    Take(item_, device, left, items);
    for (size_t i = 0; i < items.size(); ++i) {
      for (ValueId source : flow_.items[items[i]].sources) {
        const int maker = flow_.values[source].maker;
        if (maker >= 0 && !IsOn(maker, device)) {
          Take(maker, device, left, items);
        }
      }
    }
    return items;
  }

 private:
  // True if the device has the item's whole results.
  bool IsOn(int item, MachineDeviceId device) const {
    const ItemPlace& place = list_.draft()[item];
    return place.split == ItemPlace::kWhole &&
           absl::c_linear_search(place.devices, device);
  }

  // From the nearest of the item's devices.
  double TransferSeconds(MachineDeviceId device) const {
    double least = std::numeric_limits<double>::infinity();
    for (MachineDeviceId from : list_.draft()[item_].devices) {
      double seconds = 0;
      for (ValueId result :
           space_.space.request.graph().node(flow_.items[item_].node).results) {
        seconds += costs_.TransferSeconds(from, device, costs_.bytes(result));
      }
      least = std::min(least, seconds);
    }
    return least;
  }

  void Take(int item, MachineDeviceId device, double& left,
            std::vector<int>& items) const {
    const auto& cost = costs_.cost(flow_.items[item].node, device);
    const bool is_free = items.size() < kMostRecomputed &&
                         !space_.places[item].empty() && cost.can_run &&
                         cost.seconds < left && !list_.UpdatesVariable(item) &&
                         !absl::c_linear_search(items, item);
    if (!is_free) return;
    left -= cost.seconds;
    items.push_back(item);
  }

  const MoveSpace& space_;
  const CostModel& costs_;
  const Flow& flow_;
  const MoveList& list_;
  const int item_;
};

void AddRecomputedOn(const MoveSpace& space, int item, MachineDeviceId device,
                     MoveList& list) {
  Move move;
  for (int again : Recomputation(space, item, list).ItemsOn(device)) {
    list.AddTo(move, again, {list.With(again, {device})});
  }
  if (move.size() > 1) list.Add(std::move(move));
}

}  // namespace

void AddReplicas(const MoveSpace& space, MoveList& list) {
  for (int item : space.spread) {
    if (list.is_full()) return;
    if (list.UpdatesVariable(item)) continue;
    list.Add({item}, {list.WithReaders(item)});
  }
}

// A chain of cheap items is worth it only as a whole: a copy of its end alone
// waits for another transfer, a copy of its begin alone has no reader.
void AddRecomputed(const MoveSpace& space, MoveList& list) {
  for (int item : space.spread) {
    if (list.is_full()) return;
    const ItemPlace& place = list.draft()[item];
    if (place.split != ItemPlace::kWhole) continue;
    for (MachineDeviceId device : list.WithReaders(item)) {
      if (absl::c_linear_search(place.devices, device)) continue;
      AddRecomputedOn(space, item, device, list);
    }
  }
}

void AddWithMakers(const MoveSpace& space, MoveList& list) {
  for (int item : space.spread) {
    if (list.is_full()) return;
    for (MachineDeviceId device : space.space.request.costs.devices()) {
      AddWithMakersOf(space, item, {device}, list);
    }
  }
}

}  // namespace partita
