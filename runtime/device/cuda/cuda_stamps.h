// Times of a GPU's work for traces, by the host's clock.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_STAMPS_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_STAMPS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/device.h"

namespace partita {

// Events with times, of one stream. The driver gives times between events of
// one device only: the first one of a step is the anchor, whose time the host
// takes.
//
// Thread safety: for the stream's thread only, with the context current.
class CudaStamps {
 public:
  // Records the stream's present point. Resolve sets `time`.
  absl::Status Add(const CudaContext& context, CUstream stream,
                   SteadyTime& time);
  // Sets all times since the last call, when the stream's work is done.
  absl::Status Resolve(const CudaContext& context);
  // Destroys the events.
  void Clear() { events_.clear(); }

 private:
  absl::StatusOr<CUevent> Record(const CudaContext& context, CUstream stream);

  std::vector<OwnedEvent> events_;  // the anchor, then one for each stamp
  std::vector<SteadyTime*> times_;  // of the events after the anchor
  size_t recorded_ = 0;             // events in this step
  SteadyTime anchor_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_STAMPS_H_
