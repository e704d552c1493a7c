// The vector clocks of the streams that access one device.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_DEVICE_CLOCKS_H_
#define PARTITA_PLACEMENT_LOWER_DEVICE_CLOCKS_H_

#include <vector>

#include "absl/types/span.h"
#include "graph/id_vector.h"
#include "placement/lower/clocks.h"
#include "placement/lower/ids.h"

namespace partita {

// The clocks restricted to the streams that access the device, renumbered in
// their order. Memory reuse on a device depends on no other stream, and few of
// many streams access any one device.
class DeviceClocks {
 public:
  // `tasks`: those that access the device.
  DeviceClocks(const Clocks& clocks, absl::Span<const TaskId> tasks);

  int num_streams() const { return num_streams_; }
  // Invalid if the stream of the task does not access the device.
  DeviceStreamId stream(TaskId task) const {
    return streams_[clocks_.stream(task)];
  }
  // The position in its stream, counted from 1.
  int position(TaskId task) const { return clocks_.position(task); }
  // By stream: the number of its tasks that have ended before `task` starts.
  // `task` must be in one of the streams.
  IdSpan<DeviceStreamId, int> Known(TaskId task) const {
    const size_t row = first_[stream(task)] + position(task) - 1;
    return {known_.data() + row * num_streams_,
            static_cast<size_t>(num_streams_)};
  }

 private:
  const Clocks& clocks_;
  int num_streams_ = 0;
  IdVector<StreamId, DeviceStreamId> streams_;
  IdVector<DeviceStreamId, size_t> first_;  // the row of its first task
  std::vector<int> known_;  // a row for each task, a column for each stream
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_DEVICE_CLOCKS_H_
