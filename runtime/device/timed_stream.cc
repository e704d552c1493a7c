// Exact sleeps.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/timed_stream.h"

#include <sys/prctl.h>

#include <thread>

namespace partita {
namespace {

using Clock = std::chrono::steady_clock;

// A sleep that overruns by less than this shortens the next sleep.
constexpr auto kMaxOversleep = std::chrono::microseconds(300);

}  // namespace

int TimedStream::Attach() {
  const int slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
  prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  return slack;
}

void TimedStream::Detach(int attached) {
  if (attached > 0) prctl(PR_SET_TIMERSLACK, attached, 0, 0, 0);
}

absl::StatusOr<bool> TimedStream::Wait(DeviceEvent& event, uint64_t step,
                                       const WaitPolicy& policy) {
  const absl::StatusOr<bool> reached = HostStream::Wait(event, step, policy);
  EndSequence();
  return reached;
}

absl::Status TimedStream::Sleep(std::chrono::nanoseconds duration) {
  const SteadyTime now = Clock::now();
  if (now - slept_until_ > kMaxOversleep) slept_until_ = now;
  slept_until_ += duration;
  if (slept_until_ > now) std::this_thread::sleep_until(slept_until_);
  return absl::OkStatus();
}

absl::Status TimedStream::Finish() {
  EndSequence();
  return absl::OkStatus();
}

}  // namespace partita
