// Streams that take the predicted time of each command and compute nothing.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_TIMED_STREAM_H_
#define PARTITA_RUNTIME_DEVICE_TIMED_STREAM_H_

#include "runtime/device/host_stream.h"

namespace partita {

// Sleeps in sequence take the sum of their durations: if one takes too long,
// the next is shorter. A wait, or Finish, ends a sequence.
class TimedStream : public HostStream {
 public:
  TimedStream() : HostStream(/*threads=*/1) {}

  // Lets the calling thread wake without delay until Detach.
  int Attach() override;
  void Detach(int attached) override;
  absl::StatusOr<bool> Wait(DeviceEvent& event, uint64_t step,
                            const WaitPolicy& policy) override;
  absl::Status Sleep(std::chrono::nanoseconds duration) override;
  absl::Status Finish() override;

 private:
  void EndSequence() { slept_until_ = SteadyTime(); }

  // When the last sleep of the sequence should have ended; long ago if there is
  // none.
  SteadyTime slept_until_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_TIMED_STREAM_H_
