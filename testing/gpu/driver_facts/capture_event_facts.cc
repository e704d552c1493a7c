// Events recorded in a capture, used from outside it.
// SPDX-License-Identifier: Apache-2.0

#include <functional>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {
namespace {

// A RELAXED capture with an event recorded in it.
struct Recorded {
  OwnedStream stream;
  OwnedStream outside;
  OwnedEvent event;
};

absl::StatusOr<Recorded> Record(const Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream outside, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      api.StreamBeginCapture(stream.get(), CU_STREAM_CAPTURE_MODE_RELAXED),
      "cuStreamBeginCapture"));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(gpu.Launch(stream.get(), "empty", {}), "cuLaunchKernel"));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(api.EventRecord(event.get(), stream.get()), "cuEventRecord"));
  return Recorded{std::move(stream), std::move(outside), std::move(event)};
}

CUresult EndCapture(const Gpu& gpu, CUstream stream) {
  CUgraph graph = nullptr;
  const CUresult result = gpu.api().StreamEndCapture(stream, &graph);
  if (graph != nullptr) gpu.api().GraphDestroy(graph);
  return result;
}

// One call with the event while its stream captures.
absl::StatusOr<Reading> Inside(
    const Gpu& gpu, const char* name,
    const std::function<CUresult(const Recorded&)>& call) {
  PARTITA_ASSIGN_OR_RETURN(const Recorded recorded, Record(gpu));
  Steps steps(gpu.api());
  steps.Code(name, call(recorded), CUDA_ERROR_CAPTURED_EVENT);
  steps.Code("the same again", call(recorded));
  steps.Code("end", EndCapture(gpu, recorded.stream.get()),
             CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  return steps.End();
}

absl::StatusOr<Reading> Query(Gpu& gpu) {
  return Inside(gpu, "cuEventQuery", [&](const Recorded& recorded) {
    return gpu.api().EventQuery(recorded.event.get());
  });
}

absl::StatusOr<Reading> Synchronize(Gpu& gpu) {
  return Inside(gpu, "cuEventSynchronize", [&](const Recorded& recorded) {
    return gpu.api().EventSynchronize(recorded.event.get());
  });
}

// A wait of a stream outside joins that stream to the capture.
absl::StatusOr<Reading> WaitInside(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(const Recorded recorded, Record(gpu));
  Steps steps(gpu.api());
  steps.Code("wait in another stream",
             gpu.api().StreamWaitEvent(recorded.outside.get(),
                                       recorded.event.get(), 0),
             CUDA_SUCCESS);
  CUstreamCaptureStatus state{};
  steps.Code("state of that stream",
             gpu.api().StreamIsCapturing(recorded.outside.get(), &state),
             CUDA_SUCCESS);
  steps.Holds("it captures", state == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  steps.Code("end", EndCapture(gpu, recorded.stream.get()));
  return steps.End();
}

// Calls with the event when its capture has ended well.
absl::StatusOr<Reading> Afterwards(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(const Recorded recorded, Record(gpu));
  const CUevent event = recorded.event.get();
  Steps steps(api);
  steps.Code("end", EndCapture(gpu, recorded.stream.get()), CUDA_SUCCESS);
  steps.Code("query", api.EventQuery(event));
  steps.Code("synchronize", api.EventSynchronize(event));
  steps.Code("wait", api.StreamWaitEvent(recorded.outside.get(), event, 0));
  steps.Code("record anew", api.EventRecord(event, recorded.outside.get()),
             CUDA_SUCCESS);
  steps.Code("synchronize then", api.EventSynchronize(event), CUDA_SUCCESS);
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"capture_event.query",
     "A query of an event recorded in a capture is refused, and ends it",
     "cuda.h:3116, 15465", "CUDA_ERROR_CAPTURED_EVENT", Query},
    {"capture_event.synchronize",
     "To synchronize with such an event is refused, and ends the capture",
     "cuda.h:3116", "CUDA_ERROR_CAPTURED_EVENT", Synchronize},
    {"capture_event.wait",
     "A wait for such an event joins the waiting stream to the capture",
     "cuda.h:3097: forks", "SUCCESS; the stream captures", WaitInside,
     Process::kOwn},
    {"capture_event.afterwards",
     "Such an event is of no use after the capture until it is recorded anew",
     "cuda.h:3116", "figure", Afterwards, Process::kOwn},
};

}  // namespace

FactGroup CaptureEventFacts() { return {"capture_event", kFacts}; }

}  // namespace partita
