// The device lists of placements, and the rank of each device in them.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_DEVICE_LISTS_H_
#define PARTITA_PLACEMENT_LOWER_DEVICE_LISTS_H_

#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "graph/id_vector.h"
#include "placement/lower/ids.h"
#include "placement/machine/machine.h"

namespace partita {

using DeviceListId = Id<struct DeviceListTag>;  // of one DeviceLists

// Stores each list once: few lists are shared by many values.
class DeviceLists {
 public:
  // The list of these devices by rank; adds it if it is new.
  DeviceListId Of(const std::vector<MachineDeviceId>& devices);
  // The rank of the device in the list; -1: none.
  int RankOn(DeviceListId list, MachineDeviceId device) const;

 private:
  std::map<std::vector<MachineDeviceId>, DeviceListId> ids_;
  IdVector<DeviceListId, absl::flat_hash_map<MachineDeviceId, int>> ranks_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_DEVICE_LISTS_H_
