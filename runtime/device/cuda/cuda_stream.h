// A stream of a GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_STREAM_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_STREAM_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/cuda/cuda_stamps.h"
#include "runtime/device/device.h"

namespace partita {

// NON_BLOCKING: it never waits for the legacy stream. Errors of calls that
// return none are returned by the next one that does.
class CudaStream : public DeviceStream {
 public:
  static absl::StatusOr<std::unique_ptr<CudaStream>> New(SharedContext context);
  ~CudaStream() override;

  const SharedContext& context() const { return context_; }
  void* native() const override { return stream_.get(); }
  int Attach() override;
  void Detach(int attached) override;
  // Between memory of any two GPUs, or a GPU and the host. The call returns
  // when it is issued, except for pageable memory of the host: then when that
  // may be written again, or is read.
  absl::Status Copy(const Blocks& to, const Blocks& from) override;
  absl::Status Record(DeviceEvent& event, uint64_t step) override;
  // Waits on the host for events of devices that are no GPUs.
  absl::StatusOr<bool> Wait(DeviceEvent& event, uint64_t step,
                            const WaitPolicy& policy) override;
  // Delays the issue of later work.
  absl::Status Sleep(std::chrono::nanoseconds duration) override;
  void Stamp(SteadyTime& time) override;
  absl::Status Finish() override;

 private:
  CudaStream(SharedContext context, OwnedStream stream)
      : context_(std::move(context)), stream_(std::move(stream)) {}
  absl::Status TakeDeferred() {
    return std::exchange(deferred_, absl::OkStatus());
  }

  const SharedContext context_;
  OwnedStream stream_;
  CudaStamps stamps_;
  CUcontext former_ = nullptr;  // the thread's context before Attach
  absl::Status deferred_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_STREAM_H_
