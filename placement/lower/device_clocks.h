// What is known on one device of the streams that touch its bytes.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_PLACEMENT_LOWER_DEVICE_CLOCKS_H_
#define PARTITA_PLACEMENT_LOWER_DEVICE_CLOCKS_H_

#include <vector>

#include "absl/types/span.h"
#include "placement/lower/clocks.h"
#include "placement/lower/plan_draft.h"

namespace partita {

// By device, the tasks that touch some of its bytes, ascending.
std::vector<std::vector<int>> TasksByDevice(const PlanDraft& draft);

// The clocks of those streams alone, numbered in their order: what bytes of a
// device may share asks for no others, and of many devices' streams few touch
// any one's.
class DeviceClocks {
 public:
  // `tasks`: those that touch the device.
  DeviceClocks(const Clocks& clocks, absl::Span<const int> tasks);

  int num_streams() const { return num_streams_; }
  // -1: of a stream that touches nothing of the device.
  int stream(int task) const { return streams_[task]; }
  // In the stream, counted from 1.
  int position(int task) const { return clocks_.position(task); }
  // By stream, how many of its tasks have ended before `task` starts, which is
  // in one of the streams.
  absl::Span<const int> Known(int task) const {
    return absl::MakeConstSpan(known_).subspan(first_[task], num_streams_);
  }

 private:
  const Clocks& clocks_;
  int num_streams_ = 0;
  std::vector<int> streams_;   // by task
  std::vector<size_t> first_;  // by task, in known_
  std::vector<int> known_;     // task by stream
};

}  // namespace partita

#endif  // PARTITA_PLACEMENT_LOWER_DEVICE_CLOCKS_H_
