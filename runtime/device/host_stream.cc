// Copies, records and waits on the calling thread.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/host_stream.h"

#include <omp.h>

#include <cstring>
#include <thread>

#include "runtime/device/runs.h"

namespace partita {
void CopyOnHost(const Blocks& to, const Blocks& from) {
  ForEachRun(to, from, [](std::byte* to_run, std::byte* from_run, int64_t run) {
    std::memcpy(to_run, from_run, run);
    return true;
  });
}

HostStream::HostStream(int threads) : threads_(threads) {}

int HostStream::Attach() {
  const int before = omp_get_max_threads();
  if (before != threads_) omp_set_num_threads(threads_);
  // OpenMP would otherwise choose fewer on a busy host.
  dynamic_ = omp_get_dynamic();
  if (dynamic_ != 0) omp_set_dynamic(0);
  return before;
}

void HostStream::Detach(int attached) {
  if (attached != threads_) omp_set_num_threads(attached);
  if (dynamic_ != 0) omp_set_dynamic(dynamic_);
}

absl::Status HostStream::Copy(const Blocks& to, const Blocks& from) {
  CopyOnHost(to, from);
  return absl::OkStatus();
}

absl::Status HostStream::Record(DeviceEvent& event, uint64_t step) {
  event.steps().Raise(step + 1);
  return absl::OkStatus();
}

absl::StatusOr<bool> HostStream::Wait(DeviceEvent& event, uint64_t step,
                                      const WaitPolicy& policy) {
  return event.Wait(step, policy);
}

absl::Status HostStream::Sleep(std::chrono::nanoseconds duration) {
  std::this_thread::sleep_for(duration);
  return absl::OkStatus();
}

void HostStream::Stamp(SteadyTime& time) {
  time = std::chrono::steady_clock::now();
}

absl::Status HostStream::Finish() { return absl::OkStatus(); }

}  // namespace partita
