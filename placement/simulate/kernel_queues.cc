// First come, first served.
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/kernel_queues.h"

namespace partita {

void KernelQueues::Add(DeviceId device, double ready, int step,
                       CommandId kernel) {
  devices_[device].queue.insert({ready, step, kernel});
  startable_.insert(device);
}

void KernelQueues::Release(DeviceId device) {
  devices_[device].busy = false;
  startable_.insert(device);
}

std::vector<KernelQueues::Start> KernelQueues::StartAll(double now) {
  std::vector<Start> starts;
  for (DeviceId id : startable_) {
    State& device = devices_[id];
    if (device.busy || device.queue.empty()) continue;
    const auto [ready, step, kernel] = *device.queue.begin();
    device.queue.erase(device.queue.begin());
    device.busy = true;
    const bool held = ready < now && device.holder_step == step;
    starts.push_back({step, kernel, held ? device.holder : CommandId()});
    device.holder = kernel;
    device.holder_step = step;
  }
  startable_.clear();
  return starts;
}

}  // namespace partita
