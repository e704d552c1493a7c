// Counts threads as the executor does (runtime/executor/thread_count.cc).
// SPDX-License-Identifier: Apache-2.0

#include "placement/simulate/stream_wakes.h"

#include <algorithm>

#include "graph/device_kind_traits.h"

namespace partita {
namespace {

// Of a thread between two steps: it polls as long as it ever does.
constexpr double kShortWait = kPollSeconds / 2;

}  // namespace

StreamWakes::StreamWakes(const Plan& plan, const Entry& entry,
                         IdSpan<CommandId, Command> commands,
                         const IdVector<CommandId, CommandCost>& costs,
                         const HostCores& cores)
    : cores_(cores),
      devices_(entry.streams.size(), nullptr),
      overlaps_steps_(entry.depth > 1) {
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
  const StreamId first(0);
  const bool may_run_on_caller =
      !devices_.empty() && devices_[first] != nullptr &&
      TraitsOf(devices_[first]->kind).shares_host && !overlaps_steps_;
  if (may_run_on_caller) caller_ = first;
}

double StreamWakes::SecondsAfter(StreamId stream, double waited) const {
  return cores_.WakeSeconds(*devices_[stream], waited, threads_);
}

double StreamWakes::SecondsToBegin(StreamId stream) const {
  if (overlaps_steps_ || stream == caller_) return 0;
  return SecondsAfter(stream, kShortWait);
}

double StreamWakes::SecondsToReturn(double waited) const {
  return caller_.valid() ? SecondsAfter(caller_, waited) : 0;
}

}  // namespace partita
