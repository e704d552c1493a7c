// Kernels that wait for their devices.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_SIMULATE_KERNEL_QUEUES_H_
#define PARTITA_PLACEMENT_SIMULATE_KERNEL_QUEUES_H_

#include <cstddef>
#include <set>
#include <tuple>
#include <vector>

#include "graph/id_vector.h"
#include "runtime/plan/plan.h"

namespace partita {

// A device runs one kernel at a time, in the order in which kernels become
// ready; ties in launch order.
class KernelQueues {
 public:
  // A kernel that starts, and the kernel of its step that occupied the device
  // until now; invalid: none did.
  struct Start {
    int step = 0;
    CommandId kernel;
    CommandId held_up_by;
  };

  explicit KernelQueues(size_t devices) : devices_(devices) {}

  void Add(DeviceId device, double ready, int step, CommandId kernel);
  // The device's kernel has ended.
  void Release(DeviceId device);
  // The kernels that start now, on all devices that are free: after all
  // commands that become ready now are queued.
  std::vector<Start> StartAll(double now);

 private:
  struct State {
    bool busy = false;
    CommandId holder;  // the kernel that runs or ran last
    int holder_step = -1;
    std::set<std::tuple<double, int, CommandId>> queue;  // ready, step
  };

  IdVector<DeviceId, State> devices_;
  std::set<DeviceId> startable_;  // that may have a kernel to start
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_SIMULATE_KERNEL_QUEUES_H_
