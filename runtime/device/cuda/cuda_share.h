// The memory of a device that is a share of a GPU.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_SHARE_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_SHARE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/gpu_split.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/device.h"

namespace partita {

// A limit of bytes: the share of those that were free when the device was made.
// The driver knows nothing of it.
//
// Thread safety: all calls may run in parallel.
class CudaShare {
 public:
  // `ordinal` names the context's GPU in messages.
  static absl::StatusOr<std::shared_ptr<CudaShare>> Of(SharedContext context,
                                                       int ordinal,
                                                       GpuSplit split);

  const SharedContext& context() const { return context_; }
  // Of the share: no more is free than the driver has.
  absl::StatusOr<MemoryFigures> Figures() const;
  // ResourceExhausted, with both figures, beyond the limit.
  absl::Status Take(int64_t bytes);
  void GiveBack(int64_t bytes);

 private:
  CudaShare(SharedContext context, std::string name, GpuSplit split,
            int64_t limit)
      : context_(std::move(context)),
        name_(std::move(name)),
        split_(split),
        limit_(limit) {}
  int64_t Left() const;

  const SharedContext context_;
  const std::string name_;  // "one of 4 shares of GPU 0"
  const GpuSplit split_;
  const int64_t limit_;
  mutable std::mutex mutex_;  // guards `used_`
  int64_t used_ = 0;
};

// NewCudaArena, within the share.
absl::StatusOr<std::unique_ptr<Arena>> NewArenaOfShare(
    std::shared_ptr<CudaShare> share, const std::string& owner, int64_t bytes,
    int64_t alignment);

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_SHARE_H_
