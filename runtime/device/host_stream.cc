// Copies, records and waits on the calling thread.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/host_stream.h"

#include <omp.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace partita {
namespace {

// Iterates over both lists of blocks, and copies the longest run that is
// contiguous in both.
void CopyBlocks(const Blocks& to, const Blocks& from) {
  const int64_t bytes = to.size();
  for (int64_t done = 0; done < bytes;) {
    const int64_t to_inside = done % to.block;
    const int64_t from_inside = done % from.block;
    const int64_t run =
        std::min(to.block - to_inside, from.block - from_inside);
    std::memcpy(to.base + (done / to.block) * to.stride + to_inside,
                from.base + (done / from.block) * from.stride + from_inside,
                run);
    done += run;
  }
}

}  // namespace

void CopyOnHost(const Blocks& to, const Blocks& from) {
  if (to.size() == 0) return;
  if (to.contiguous() && from.contiguous()) {
    std::memcpy(to.base, from.base, to.size());
  } else {
    CopyBlocks(to, from);
  }
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

bool HostStream::Wait(DeviceEvent& event, uint64_t step,
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
