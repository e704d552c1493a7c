// Tracks the latest task of each stream.
// SPDX-License-Identifier: Apache-2.0

#include "placement/lower/stream_knowledge.h"

#include <algorithm>

namespace partita {

StreamKnowledge::StreamKnowledge(
    const IdVector<PackIntervalId, LiveRange>& live_ranges,
    const DeviceClocks& clocks)
    : clocks_(clocks) {
  for (const LiveRange& live_range : live_ranges) {
    for (const auto& end : live_range.ends) latest_[end.first] = {};
  }
}

void StreamKnowledge::Advance(TaskId task) {
  for (; next_task_ <= task; ++next_task_.index) {
    const auto stream = latest_.find(clocks_.stream(next_task_));
    if (stream != latest_.end()) stream->second = next_task_;
  }
}

bool StreamKnowledge::AllKnow(const LiveRange& live_range) const {
  return std::all_of(latest_.begin(), latest_.end(), [&](const auto& latest) {
    return latest.second.valid() &&
           EndedBefore(live_range, clocks_.Known(latest.second));
  });
}

}  // namespace partita
