// What all tasks from a point of the launch order on know to have ended.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_
#define PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_

#include <cstddef>
#include <map>

#include "placement/lower/device_clocks.h"
#include "placement/lower/live_ranges.h"

namespace partita {

// Knowledge of a stream never decreases, so all its later tasks know what its
// next one knows. An interval that the next task of every stream knows to have
// ended therefore conflicts with no interval that is first accessed later. A
// stream without a next task knows enough: it accesses nothing later.
class StreamKnowledge {
 public:
  // Covers the streams that access these live ranges. `clocks` must outlive it.
  StreamKnowledge(const IdVector<PackIntervalId, LiveRange>& live_ranges,
                  const DeviceClocks& clocks);

  // From now on tasks before `task` are not later. `task` never decreases.
  void Advance(TaskId task);
  bool AllKnow(const LiveRange& live_range) const;

 private:
  const DeviceClocks& clocks_;
  // By stream: the index of its next task in DeviceClocks::tasks_of.
  std::map<DeviceStreamId, size_t> next_;
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_STREAM_KNOWLEDGE_H_
