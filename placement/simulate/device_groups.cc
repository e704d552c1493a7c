// Groups devices, and finds the shortest routes between the groups.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/device_groups.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/device_kind_traits.h"
#include "placement/machine/machine.h"

namespace partita {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The faster in each respect, as either route may be taken.
void Improve(const GroupRoute& other, GroupRoute& route) {
  if (other.latency < route.latency || route.link == nullptr) {
    route.link = other.link;
  }
  route.latency = std::min(route.latency, other.latency);
  route.per_byte = std::min(route.per_byte, other.per_byte);
}

constexpr GroupRoute kNoRoute = {kNever, kNever, nullptr};

GroupRoute ByCopy(const Link& link) {
  return {link.latency, 1 / link.bandwidth, &link};
}

// By the faster kind of collective; none if the link states no figures.
GroupRoute ByCollective(const Link& link) {
  GroupRoute route = kNoRoute;
  for (const auto& stated :
       {link.collectives.gather, link.collectives.reduce}) {
    if (!stated.has_value()) continue;
    Improve({stated->latency, 1 / stated->bandwidth, &link}, route);
  }
  return route;
}

// One route after the other. The slower link decides how fast bytes follow.
GroupRoute InSequence(const GroupRoute& first, const GroupRoute& second) {
  return {first.latency + second.latency,
          std::max(first.per_byte, second.per_byte), first.link};
}

// Both in one collective, which has the latency of its slowest link once.
GroupRoute InOneCollective(const GroupRoute& first, const GroupRoute& second) {
  return {std::max(first.latency, second.latency),
          std::max(first.per_byte, second.per_byte), first.link};
}

}  // namespace

DeviceGroups::DeviceGroups(const CostModel& costs) : costs_(costs) {
  for (MachineDeviceId device : costs.devices()) AddDevice(device);
  routes_.assign(size() * size(), kNoRoute);
  for (DeviceGroupId group : ids()) {
    routes_[group.index * size() + group.index] = {};
  }
  AddLinks(ByCollective);
  CloseRoutes(InOneCollective);
  AddLinks(ByCopy);
  CloseRoutes(InSequence);
}

void DeviceGroups::AddDevice(MachineDeviceId device) {
  const MachineDevice& traits = costs_.machine().devices[device.index];
  DeviceGroup* group = nullptr;
  for (DeviceGroupId id : ids()) {
    if (costs_.SameSpeed(groups_[id].devices[0], device)) group = &groups_[id];
  }
  if (group == nullptr) {
    group = &groups_[groups_.Add({.launch = traits.traits.launch_seconds,
                                  .port_fixed = kNever,
                                  .port_per_byte = kNever})];
  }
  group->devices.push_back(device);
  group->memory += std::max<int64_t>(0, traits.usable());
  AddPort(device, *group);
}

// As CommandCost: a feed of a device that shares the host is a local copy, any
// other takes a link from the host.
void DeviceGroups::AddPort(MachineDeviceId device, DeviceGroup& group) const {
  const DeviceTraits& traits = costs_.machine().devices[device.index].traits;
  const DeviceKindTraits& kind = TraitsOf(traits.kind);
  group.ports_beside_kernels |= kind.ports_beside_kernels;
  group.overlaps_steps |= kind.overlaps_steps;
  if (costs_.shares_host(device) || !costs_.host().valid()) {
    const LocalCopy copy = costs_.machine().LocalCopyOf(traits);
    group.port_fixed = std::min(group.port_fixed, copy.fixed);
    group.port_per_byte = std::min(group.port_per_byte, copy.per_byte);
    return;
  }
  for (MachineDeviceId host : costs_.devices()) {
    const Link* link = costs_.link(host, device);
    if (link == nullptr || !costs_.shares_host(host)) continue;
    group.port_fixed = std::min(group.port_fixed, link->latency);
    group.port_per_byte = std::min(group.port_per_byte, 1 / link->bandwidth);
  }
}

void DeviceGroups::AddLinks(GroupRoute (*over)(const Link&)) {
  for (DeviceGroupId from : ids()) {
    for (DeviceGroupId to : ids()) {
      if (from == to) continue;
      for (MachineDeviceId a : groups_[from].devices) {
        for (MachineDeviceId b : groups_[to].devices) {
          const Link* link = costs_.link(a, b);
          if (link == nullptr) continue;
          Improve(over(*link), routes_[from.index * size() + to.index]);
        }
      }
    }
  }
}

// Floyd and Warshall, for latencies and for the widest route alike.
void DeviceGroups::CloseRoutes(GroupRoute (*join)(const GroupRoute&,
                                                  const GroupRoute&)) {
  for (DeviceGroupId middle : ids()) {
    for (DeviceGroupId from : ids()) {
      for (DeviceGroupId to : ids()) {
        if (from == middle || to == middle || from == to) continue;
        if (route(from, middle).link == nullptr ||
            route(middle, to).link == nullptr) {
          continue;
        }
        Improve(join(route(from, middle), route(middle, to)),
                routes_[from.index * size() + to.index]);
      }
    }
  }
}

std::string DeviceGroups::Name(DeviceGroupId group) const {
  const std::vector<MachineDeviceId>& devices = groups_[group].devices;
  const std::string& first = costs_.device_name(devices[0]);
  if (devices.size() == 1) return first;
  return absl::StrCat(first, " and ", devices.size() - 1, " like it");
}

}  // namespace partita
