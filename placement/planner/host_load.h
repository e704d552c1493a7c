// The work of a draft on the cores of the host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_PLANNER_HOST_LOAD_H_
#define PARTITA_PLACEMENT_PLANNER_HOST_LOAD_H_

#include "placement/cost/cost_model.h"
#include "placement/machine/machine.h"

namespace partita {

// For estimates: no step is shorter than all this work on all cores. Where the
// machine names no cores, there is none (placement/cost/host_cores.h).
class HostLoad {
 public:
  // The costs must outlive it.
  explicit HostLoad(const CostModel& costs);

  void Reset() { core_seconds_ = 0; }
  void AddKernel(MachineDeviceId device, double seconds);
  // A feed, a fetch, a slice, or a rank's work for a collective.
  void AddLocalCopy(MachineDeviceId device, double seconds);
  void AddCopy(MachineDeviceId from, MachineDeviceId to, double seconds);

  double LeastSeconds() const;
  // Until the device's stream goes on after a wait. Assumes that all CPUs of
  // the machine are in use, each with a stream for copies if there are several.
  double WakeSeconds(MachineDeviceId device, double waited) const;

 private:
  void Add(int cores, double seconds);
  const DeviceTraits& traits(MachineDeviceId device) const {
    return costs_.machine().devices[device.index].traits;
  }

  const CostModel& costs_;
  int threads_ = 0;
  double core_seconds_ = 0;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_PLANNER_HOST_LOAD_H_
