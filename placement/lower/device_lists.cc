// Interns device lists.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/device_lists.h"

#include <utility>

namespace partita {

DeviceListId DeviceLists::Of(const std::vector<MachineDeviceId>& devices) {
  const auto [it, is_new] = ids_.try_emplace(devices);
  if (!is_new) return it->second;
  absl::flat_hash_map<MachineDeviceId, int> ranks;
  for (size_t rank = 0; rank < devices.size(); ++rank) {
    ranks.emplace(devices[rank], static_cast<int>(rank));
  }
  return it->second = ranks_.Add(std::move(ranks));
}

int DeviceLists::RankOn(DeviceListId list, MachineDeviceId device) const {
  const auto rank = ranks_[list].find(device);
  return rank == ranks_[list].end() ? -1 : rank->second;
}

}  // namespace partita
