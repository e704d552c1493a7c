// Selects the streams of a device, and stores what their tasks know.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/device_clocks.h"

#include <set>

namespace partita {

DeviceClocks::DeviceClocks(const Clocks& clocks, absl::Span<const TaskId> tasks)
    : clocks_(clocks), streams_(clocks.num_streams()) {
  std::set<StreamId> streams;
  for (TaskId task : tasks) streams.insert(clocks.stream(task));
  size_t rows = 0;
  for (StreamId stream : streams) {
    streams_[stream] = first_.Add(rows);
    rows += clocks.tasks_of(stream).size();
  }
  num_streams_ = static_cast<int>(streams.size());
  known_.reserve(rows * streams.size());
  for (StreamId stream : streams) {
    for (TaskId task : clocks.tasks_of(stream)) {
      for (StreamId other : streams) {
        known_.push_back(clocks.Known(task, other));
      }
    }
  }
}

}  // namespace partita
