// Times of the nodes of graphs, by the host's clock.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_STAMPS_H_
#define PARTITA_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_STAMPS_H_

#include <cuda.h>

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/cuda_memory.h"
#include "runtime/device/device.h"

namespace partita {

// The events that a graph's nodes record on one GPU. The driver gives times
// between events of one context only: each launch has an anchor there, whose
// time the host takes.
class CudaGraphStamps {
 public:
  // Of the GPU of `context`.
  static absl::StatusOr<CudaGraphStamps> New(SharedContext context);
  CudaGraphStamps(CudaGraphStamps&&) = default;
  ~CudaGraphStamps();

  CUcontext context() const { return context_->get(); }
  // The event of one more stamp, which a node is to record. Resolve sets
  // `time`.
  absl::StatusOr<CUevent> Add(SteadyTime& time);
  // Before each launch. Waits until the GPU has reached the anchor, in a stream
  // of its own.
  absl::Status Anchor();
  // When a launch is done.
  absl::Status Resolve() const;

 private:
  CudaGraphStamps(SharedContext context, OwnedStream stream, OwnedEvent anchor)
      : context_(std::move(context)),
        stream_(std::move(stream)),
        anchor_(std::move(anchor)) {}

  SharedContext context_;  // null: moved from
  OwnedStream stream_;
  OwnedEvent anchor_;
  SteadyTime anchored_;
  std::vector<std::pair<OwnedEvent, SteadyTime*>> stamps_;
};

}  // namespace partita

#endif  // PARTITA_RUNTIME_DEVICE_CUDA_CUDA_GRAPH_STAMPS_H_
