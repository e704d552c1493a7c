// Counts threads as the executor does (runtime/executor/thread_count.cc).
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/stream_wakes.h"

#include <algorithm>

#include "graph/device_kind_traits.h"

namespace partita {

StreamWakes::StreamWakes(const Plan& plan, const Entry& entry,
                         IdSpan<CommandId, Command> commands,
                         const IdVector<CommandId, CommandCost>& costs,
                         const HostCores& cores)
    : cores_(cores), devices_(entry.streams.size(), nullptr) {
  // A stream with kernels has the threads of one.
  IdVector<StreamId, int> threads(entry.streams.size(), 0);
  bool launches = false;
  for (CommandId c : commands.ids()) {
    const StreamId stream = commands[c].stream;
    const DeviceId device = entry.streams[stream.index].device;
    devices_[stream] = &plan.devices[device.index].traits;
    if (TraitsOf(devices_[stream]->kind).shares_host) {
      threads[stream] = std::max({1, threads[stream], costs[c].cores});
    } else {
      launches = true;
    }
  }
  for (const int own : threads) threads_ += own;
  threads_ += launches ? 1 : 0;
}

double StreamWakes::SecondsAfter(StreamId stream, double waited) const {
  return cores_.WakeSeconds(*devices_[stream], waited, threads_);
}

}  // namespace partita
