// Tracks the next task of each stream.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/stream_knowledge.h"

#include <algorithm>

namespace partita {

StreamKnowledge::StreamKnowledge(
    const IdVector<PackIntervalId, LiveRange>& live_ranges,
    const DeviceClocks& clocks)
    : clocks_(clocks) {
  for (const LiveRange& live_range : live_ranges) {
    for (const auto& end : live_range.ends) next_[end.first] = 0;
  }
}

void StreamKnowledge::Advance(TaskId task) {
  for (auto& [stream, next] : next_) {
    const absl::Span<const TaskId> tasks = clocks_.tasks_of(stream);
    while (next < tasks.size() && tasks[next] < task) ++next;
  }
}

bool StreamKnowledge::AllKnow(const LiveRange& live_range) const {
  return std::all_of(next_.begin(), next_.end(), [&](const auto& entry) {
    const auto [stream, next] = entry;
    const absl::Span<const TaskId> tasks = clocks_.tasks_of(stream);
    return next == tasks.size() ||
           EndedBefore(live_range, clocks_.Known(tasks[next]));
  });
}

}  // namespace partita
