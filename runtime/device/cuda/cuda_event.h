// Events that a GPU reaches.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_EVENT_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_EVENT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/device.h"

namespace partita {

// Keeps the driver's record of the last step only. A wait for an earlier step
// ends later than it could, and ends: whatever is issued before a record waits
// for nothing that is issued after it.
//
// Thread safety: the recording stream's thread calls Record, all others
// anything else.
class CudaEvent : public DeviceEvent {
 public:
  static absl::StatusOr<std::unique_ptr<CudaEvent>> New(SharedContext context);
  ~CudaEvent() override;

  absl::Status Record(CUstream stream, uint64_t step);
  // Work that is issued to `stream`, of any GPU, later begins after `step` has
  // reached the event. Waits on the host until that record is issued: false if
  // `policy` ended the wait.
  absl::StatusOr<bool> Block(CUstream stream, uint64_t step,
                             const WaitPolicy& policy);

 private:
  CudaEvent(SharedContext context, OwnedEvent event)
      : context_(std::move(context)), event_(std::move(event)) {}
  bool IsRecorded(uint64_t step) const {
    return recorded_.load(std::memory_order_acquire) > step;
  }
  absl::StatusOr<bool> WaitUntilReached(uint64_t step,
                                        const WaitPolicy& policy) override;
  absl::StatusOr<bool> IsReached(uint64_t step) const;

  const SharedContext context_;
  OwnedEvent event_;
  std::atomic<uint64_t> recorded_ = 0;  // steps whose record is issued
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_EVENT_H_
