// Devices of equal speed as one group, and the least that ports and transfers
// of a group take.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_DEVICE_GROUPS_H_
#define PARTITA_PLACEMENT_SIMULATE_DEVICE_GROUPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/id_vector.h"
#include "graph/ids.h"
#include "placement/cost/cost_model.h"

namespace partita {

using DeviceGroupId = Id<struct DeviceGroupTag>;

// Every node takes the same time on each of the devices.
struct DeviceGroup {
  std::vector<MachineDeviceId> devices;
  double launch = 0;         // seconds of any command
  double port_fixed = 0;     // seconds of any feed or fetch
  double port_per_byte = 0;  // and for each of its bytes
  // Feeds, and fetches, run beside kernels, in a stream of their own.
  bool ports_beside_kernels = false;
  bool overlaps_steps = false;  // DeviceKindTraits::overlaps_steps
  int64_t memory = 0;           // usable bytes of all devices together
};

// The least that any route between two groups takes.
struct GroupRoute {
  double latency = 0;          // seconds; infinite: no route
  double per_byte = 0;         // seconds
  const Link* link = nullptr;  // the first on the route
};

// The groups of a machine, for lower bounds: every figure is the least over the
// devices of a group.
class DeviceGroups {
 public:
  // `costs` must outlive this.
  explicit DeviceGroups(const CostModel& costs);

  size_t size() const { return groups_.size(); }
  IdRange<DeviceGroupId> ids() const { return groups_.ids(); }
  const DeviceGroup& operator[](DeviceGroupId id) const { return groups_[id]; }
  // Nothing within a group.
  const GroupRoute& route(DeviceGroupId from, DeviceGroupId to) const {
    return routes_[from.index * size() + to.index];
  }
  // Seconds of a feed or fetch.
  double Port(DeviceGroupId group, double bytes) const {
    return groups_[group].port_fixed + bytes * groups_[group].port_per_byte;
  }
  // "gpu:0", "gpu:0 and 3 like it".
  std::string Name(DeviceGroupId group) const;

 private:
  void AddDevice(MachineDeviceId device);
  void AddPort(MachineDeviceId device, DeviceGroup& group) const;
  // The routes of one link each.
  void AddLinks(GroupRoute (*over)(const Link&));
  // All routes that consist of others.
  void CloseRoutes(GroupRoute (*join)(const GroupRoute&, const GroupRoute&));

  const CostModel& costs_;
  IdVector<DeviceGroupId, DeviceGroup> groups_;
  std::vector<GroupRoute> routes_;  // from * groups + to
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_DEVICE_GROUPS_H_
