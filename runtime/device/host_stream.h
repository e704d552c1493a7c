// Streams on threads of the host.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_HOST_STREAM_H_
#define PARTITA_RUNTIME_DEVICE_HOST_STREAM_H_

#include "runtime/device/device.h"

namespace partita {

// Copies equal numbers of bytes that the host can access, on the calling
// thread.
void CopyOnHost(const Blocks& to, const Blocks& from);

// Each call returns when its work is done.
class HostStream : public DeviceStream {
 public:
  // Kernels run on a team of `threads` OpenMP threads, which is within
  // OMP_THREAD_LIMIT.
  explicit HostStream(int threads);

  int Attach() override;
  void Detach(int attached) override;
  absl::Status Copy(const Blocks& to, const Blocks& from) override;
  absl::Status Record(DeviceEvent& event, uint64_t step) override;
  absl::StatusOr<bool> Wait(DeviceEvent& event, uint64_t step,
                            const WaitPolicy& policy) override;
  absl::Status Sleep(std::chrono::nanoseconds duration) override;
  void Stamp(SteadyTime& time) override;
  absl::Status Finish() override;

 private:
  const int threads_;
  int dynamic_ = 0;  // its value before Attach
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_HOST_STREAM_H_
