// Joins what the tasks of a live range know.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/live_range.h"

#include <algorithm>
#include <limits>
#include <map>

namespace partita {

LiveRange LiveRangeOf(absl::Span<const TaskId> tasks,
                      const DeviceClocks& clocks) {
  LiveRange live_range{.first = tasks.front(), .last = tasks.back()};
  live_range.known = IdVector<DeviceStreamId, int>(
      clocks.num_streams(), std::numeric_limits<int>::max());
  std::map<DeviceStreamId, int> ends;
  for (TaskId task : tasks) {
    int& end = ends[clocks.stream(task)];
    end = std::max(end, clocks.position(task));
    const IdSpan<DeviceStreamId, int> known = clocks.Known(task);
    for (DeviceStreamId s : known.ids()) {
      live_range.known[s] = std::min(live_range.known[s], known[s]);
    }
  }
  live_range.ends.assign(ends.begin(), ends.end());
  return live_range;
}

bool EndedBefore(const LiveRange& live_range,
                 IdSpan<DeviceStreamId, int> known) {
  return std::all_of(
      live_range.ends.begin(), live_range.ends.end(),
      [&](const auto& end) { return known[end.first] >= end.second; });
}

StreamLiveRange Weighted(const LiveRange& live_range,
                         const DeviceClocks& clocks, int64_t bytes) {
  return {.weight = bytes,
          .stream = clocks.stream(live_range.first),
          .position = clocks.position(live_range.first),
          .known = live_range.known,
          .ends = live_range.ends};
}

}  // namespace partita
