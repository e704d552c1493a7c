// When bytes are live, in terms of the streams of a device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_LIVE_RANGE_H_
#define PARTITA_PLACEMENT_LOWER_LIVE_RANGE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "graph/id_vector.h"
#include "placement/lower/antichain.h"
#include "placement/lower/device_clocks.h"
#include "placement/lower/ids.h"

namespace partita {

// When some bytes are accessed.
struct LiveRange {
  TaskId first;
  TaskId last;
  // Stream, last position in it.
  std::vector<std::pair<DeviceStreamId, int>> ends;
  IdVector<DeviceStreamId, int> known;  // what every accessing task knows
};

// `tasks`: those that access the bytes, ascending, at least one.
LiveRange LiveRangeOf(absl::Span<const TaskId> tasks,
                      const DeviceClocks& clocks);

// True if a task that knows `known` of each stream knows that the bytes are no
// longer accessed.
bool EndedBefore(const LiveRange& live_range,
                 IdSpan<DeviceStreamId, int> known);

// The live range of `bytes` as an element of HeaviestAntichain.
StreamLiveRange Weighted(const LiveRange& live_range,
                         const DeviceClocks& clocks, int64_t bytes);

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_LIVE_RANGE_H_
