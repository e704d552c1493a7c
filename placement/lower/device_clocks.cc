// Selects the streams of a device, and stores what their tasks know.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/device_clocks.h"

#include <set>

#include "absl/container/flat_hash_map.h"

namespace partita {

DeviceClocks::DeviceClocks(const Clocks& clocks, absl::Span<const TaskId> tasks)
    : clocks_(clocks) {
  std::set<StreamId> streams;
  for (TaskId task : tasks) streams.insert(clocks.stream(task));
  absl::flat_hash_map<StreamId, DeviceStreamId> ids;
  for (StreamId stream : streams) ids[stream] = DeviceStreamId(num_streams_++);
  for (TaskId task : clocks.tasks()) {
    const auto id = ids.find(clocks.stream(task));
    streams_.Add(id == ids.end() ? DeviceStreamId() : id->second);
    first_.Add(known_.size());
    if (id == ids.end()) continue;
    for (StreamId stream : streams) {
      known_.push_back(clocks.Known(task, stream));
    }
  }
}

}  // namespace partita
