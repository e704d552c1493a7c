// Measures from the anchor.
// SPDX-License-Identifier: Apache-2.0

#include "runtime/device/cuda/cuda_stamps.h"

#include <chrono>

#include "graph/status_macros.h"

namespace partita {

// The events of earlier steps are used again.
absl::StatusOr<CUevent> CudaStamps::Record(const CudaContext& context,
                                           CUstream stream) {
  if (recorded_ == events_.size()) {
    PARTITA_ASSIGN_OR_RETURN(OwnedEvent event,
                             NewEvent(context.api(), CU_EVENT_DEFAULT));
    events_.push_back(std::move(event));
  }
  const CUevent event = events_[recorded_].get();
  PARTITA_RETURN_IF_ERROR(
      context.Check(context.api().EventRecord(event, stream), "cuEventRecord"));
  ++recorded_;
  return event;
}

// A stream has nothing to do when its step begins: the anchor is reached at
// once.
absl::Status CudaStamps::Add(const CudaContext& context, CUstream stream,
                             SteadyTime& time) {
  if (recorded_ == 0) {
    PARTITA_ASSIGN_OR_RETURN(const CUevent anchor, Record(context, stream));
    PARTITA_RETURN_IF_ERROR(context.Check(
        context.api().EventSynchronize(anchor), "cuEventSynchronize"));
    anchor_ = std::chrono::steady_clock::now();
  }
  PARTITA_RETURN_IF_ERROR(Record(context, stream).status());
  times_.push_back(&time);
  return absl::OkStatus();
}

absl::Status CudaStamps::Resolve(const CudaContext& context) {
  using std::chrono::duration_cast;
  recorded_ = 0;
  const std::vector<SteadyTime*> times = std::exchange(times_, {});
  for (size_t i = 0; i < times.size(); ++i) {
    float milliseconds = 0;
    PARTITA_RETURN_IF_ERROR(context.Check(
        context.api().EventElapsedTime(&milliseconds, events_[0].get(),
                                       events_[i + 1].get()),
        "cuEventElapsedTime"));
    *times[i] =
        anchor_ + duration_cast<SteadyTime::duration>(
                      std::chrono::duration<float, std::milli>(milliseconds));
  }
  return absl::OkStatus();
}

}  // namespace partita
