// Increases a number whose digits are devices.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/whole_placements.h"

#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"

namespace partita {

WholePlacements::WholePlacements(const SearchSpace& space) {
  const CostModel& costs = space.request.costs;
  for (size_t i = 0; i < space.flow.items.size(); ++i) {
    const NodeId node = space.flow.items[i].node;
    if (space.request.pin(node) != nullptr) continue;
    Digit digit{.item = static_cast<int>(i)};
    absl::c_copy_if(costs.devices(), std::back_inserter(digit.devices),
                    [&](MachineDeviceId device) {
                      return costs.cost(node, device).can_run;
                    });
    digits_.push_back(std::move(digit));
  }
}

int64_t WholePlacements::CountUpTo(int64_t most) const {
  int64_t count = 1;
  for (const Digit& digit : digits_) {
    count *= static_cast<int64_t>(digit.devices.size());
    if (count > most) return most + 1;
  }
  return count;
}

ItemDraft WholePlacements::First(ItemDraft pinned) const {
  for (const Digit& digit : digits_) {
    pinned[digit.item] = {{digit.devices.front()}};
  }
  return pinned;
}

bool WholePlacements::Next(ItemDraft& draft) const {
  for (const Digit& digit : digits_) {
    MachineDeviceId& device = draft[digit.item].devices.front();
    const auto next = absl::c_find(digit.devices, device) + 1;
    if (next != digit.devices.end()) {
      device = *next;
      return true;
    }
    device = digit.devices.front();
  }
  return false;
}

}  // namespace partita
