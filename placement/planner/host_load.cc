// Adds up core seconds.
// SPDX-License-Identifier: Apache-2.0

#include "placement/planner/host_load.h"

namespace partita {

HostLoad::HostLoad(const CostModel& costs) : costs_(costs) {
  int cpus = 0;
  for (MachineDeviceId device : costs.devices()) {
    threads_ += costs.host_cores().OfKernel(traits(device));
    cpus += costs.shares_host(device) ? 1 : 0;
  }
  if (cpus > 1) threads_ += cpus;
}

// Seconds are infinite where nothing can run; without cores they do not count.
void HostLoad::Add(int cores, double seconds) {
  if (cores > 0) core_seconds_ += cores * seconds;
}

void HostLoad::AddKernel(MachineDeviceId device, double seconds) {
  Add(costs_.host_cores().OfKernel(traits(device)), seconds);
}

void HostLoad::AddLocalCopy(MachineDeviceId device, double seconds) {
  Add(costs_.host_cores().OfLocalCopy(traits(device)), seconds);
}

void HostLoad::AddCopy(MachineDeviceId from, MachineDeviceId to,
                       double seconds) {
  Add(costs_.host_cores().OfCopy(traits(from), traits(to)), seconds);
}

double HostLoad::LeastSeconds() const {
  return costs_.host_cores().LeastSeconds(core_seconds_);
}

double HostLoad::WakeSeconds(MachineDeviceId device, double waited) const {
  return costs_.host_cores().WakeSeconds(traits(device), waited, threads_);
}

}  // namespace partita
