// Measures from the anchor of a launch.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_graph_stamps.h"

#include <chrono>

#include "graph/status_macros.h"

namespace partita {

absl::StatusOr<CudaGraphStamps> CudaGraphStamps::New(SharedContext context) {
  OwnedStream stream;
  OwnedEvent anchor;
  PARTITA_RETURN_IF_ERROR(context->Within([&] {
    PARTITA_ASSIGN_OR_RETURN(stream,
                             NewStream(context->api(), CU_STREAM_NON_BLOCKING));
    PARTITA_ASSIGN_OR_RETURN(anchor,
                             NewEvent(context->api(), CU_EVENT_DEFAULT));
    return absl::OkStatus();
  }));
  return CudaGraphStamps(std::move(context), std::move(stream),
                         std::move(anchor));
}

CudaGraphStamps::~CudaGraphStamps() {
  if (context_ == nullptr) return;
  context_->Release([this] {
    stamps_.clear();
    anchor_ = OwnedEvent();
    stream_ = OwnedStream();
  });
}

absl::StatusOr<CUevent> CudaGraphStamps::Add(SteadyTime& time) {
  OwnedEvent event;
  PARTITA_RETURN_IF_ERROR(context_->Within([&] {
    PARTITA_ASSIGN_OR_RETURN(event,
                             NewEvent(context_->api(), CU_EVENT_DEFAULT));
    return absl::OkStatus();
  }));
  stamps_.emplace_back(std::move(event), &time);
  return stamps_.back().first.get();
}

absl::Status CudaGraphStamps::Anchor() {
  const DriverApi& api = context_->api();
  return context_->Within([&] {
    PARTITA_RETURN_IF_ERROR(context_->Check(
        api.EventRecord(anchor_.get(), stream_.get()), "cuEventRecord"));
    PARTITA_RETURN_IF_ERROR(context_->Check(api.EventSynchronize(anchor_.get()),
                                            "cuEventSynchronize"));
    anchored_ = std::chrono::steady_clock::now();
    return absl::OkStatus();
  });
}

absl::Status CudaGraphStamps::Resolve() const {
  using std::chrono::duration_cast;
  const DriverApi& api = context_->api();
  return context_->Within([&] {
    for (const auto& [event, time] : stamps_) {
      float milliseconds = 0;
      PARTITA_RETURN_IF_ERROR(context_->Check(
          api.EventElapsedTime(&milliseconds, anchor_.get(), event.get()),
          "cuEventElapsedTime"));
      *time = anchored_ +
              duration_cast<SteadyTime::duration>(
                  std::chrono::duration<float, std::milli>(milliseconds));
    }
    return absl::OkStatus();
  });
}

}  // namespace partita
