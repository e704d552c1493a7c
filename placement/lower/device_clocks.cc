// Picks a device's streams, and writes out what its tasks know of them.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/device_clocks.h"

#include "absl/algorithm/container.h"

namespace partita {
namespace {

bool TouchesDevice(const PlanDraft& draft, const Task& task, int device) {
  const auto on_device = [&](const Touch& touch) {
    return draft.pieces[touch.piece].device == device;
  };
  return absl::c_any_of(task.reads, on_device) ||
         absl::c_any_of(task.writes, on_device) ||
         (task.workspace >= 0 &&
          draft.storages[task.workspace].device == device);
}

// Ascending.
std::vector<int> StreamsOf(const PlanDraft& draft, int device) {
  std::vector<bool> touches(draft.streams.size(), false);
  for (const Task& task : draft.tasks) {
    if (TouchesDevice(draft, task, device)) touches[task.stream] = true;
  }
  std::vector<int> streams;
  for (size_t s = 0; s < touches.size(); ++s) {
    if (touches[s]) streams.push_back(static_cast<int>(s));
  }
  return streams;
}

}  // namespace

DeviceClocks::DeviceClocks(const PlanDraft& draft, const Clocks& clocks,
                           int device)
    : clocks_(clocks) {
  const std::vector<int> streams = StreamsOf(draft, device);
  num_streams_ = static_cast<int>(streams.size());
  std::vector<int> numbers(draft.streams.size(), -1);
  for (int s = 0; s < num_streams_; ++s) numbers[streams[s]] = s;
  for (int task = 0; task < clocks.num_tasks(); ++task) {
    streams_.push_back(numbers[clocks.stream(task)]);
    first_.push_back(known_.size());
    if (streams_.back() < 0) continue;
    for (int stream : streams) known_.push_back(clocks.Known(task, stream));
  }
}

}  // namespace partita
