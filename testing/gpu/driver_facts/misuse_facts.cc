// Handles used after their end: undefined by cuda.h, one call a process.
// SPDX-License-Identifier: Apache-2.0

#include <functional>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {
namespace {

// One call with an event that was destroyed.
absl::StatusOr<Reading> DestroyedEvent(
    const Gpu& gpu, const std::function<CUresult(CUevent, CUstream)>& call) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  const CUevent gone = event.release();
  Steps steps(api);
  steps.Code("destroy", api.EventDestroy(gone), CUDA_SUCCESS);
  steps.Code("the call", call(gone, stream.get()));
  return steps.End();
}

absl::StatusOr<Reading> QueryEvent(Gpu& gpu) {
  return DestroyedEvent(gpu, [&](CUevent event, CUstream) {
    return gpu.api().EventQuery(event);
  });
}
absl::StatusOr<Reading> RecordEvent(Gpu& gpu) {
  return DestroyedEvent(gpu, [&](CUevent event, CUstream stream) {
    return gpu.api().EventRecord(event, stream);
  });
}
absl::StatusOr<Reading> WaitEvent(Gpu& gpu) {
  return DestroyedEvent(gpu, [&](CUevent event, CUstream stream) {
    return gpu.api().StreamWaitEvent(stream, event, 0);
  });
}
absl::StatusOr<Reading> SynchronizeEvent(Gpu& gpu) {
  return DestroyedEvent(gpu, [&](CUevent event, CUstream) {
    return gpu.api().EventSynchronize(event);
  });
}
absl::StatusOr<Reading> DestroyEventTwice(Gpu& gpu) {
  return DestroyedEvent(gpu, [&](CUevent event, CUstream) {
    return gpu.api().EventDestroy(event);
  });
}

// One call with a stream that was destroyed.
absl::StatusOr<Reading> DestroyedStream(
    const Gpu& gpu, const std::function<CUresult(CUstream)>& call) {
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  const CUstream gone = stream.release();
  Steps steps(gpu.api());
  steps.Code("destroy", gpu.api().StreamDestroy(gone), CUDA_SUCCESS);
  steps.Code("the call", call(gone));
  return steps.End();
}

absl::StatusOr<Reading> LaunchInStream(Gpu& gpu) {
  return DestroyedStream(
      gpu, [&](CUstream stream) { return gpu.Launch(stream, "empty", {}); });
}
absl::StatusOr<Reading> SynchronizeStream(Gpu& gpu) {
  return DestroyedStream(gpu, [&](CUstream stream) {
    return gpu.api().StreamSynchronize(stream);
  });
}
absl::StatusOr<Reading> DestroyStreamTwice(Gpu& gpu) {
  return DestroyedStream(
      gpu, [&](CUstream stream) { return gpu.api().StreamDestroy(stream); });
}

absl::StatusOr<Reading> LaunchExec(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  AddKernel(gpu, graph.get(), {}, "empty", {});
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  const CUgraphExec gone = exec.release();
  Steps steps(api);
  steps.Code("destroy", api.GraphExecDestroy(gone), CUDA_SUCCESS);
  steps.Code("the call", api.GraphLaunch(gone, stream.get()));
  return steps.End();
}

absl::StatusOr<Reading> LaunchUnloaded(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedLibrary library,
                           LoadLibrary(api, kTestKernels));
  CUkernel kernel = nullptr;
  Steps steps(api);
  steps.Code("get kernel",
             api.LibraryGetKernel(&kernel, library.get(), "empty"),
             CUDA_SUCCESS);
  steps.Code("launch", gpu.LaunchKernel(stream.get(), kernel, {}, nullptr),
             CUDA_SUCCESS);
  api.StreamSynchronize(stream.get());
  steps.Code("unload", api.LibraryUnload(library.release()), CUDA_SUCCESS);
  steps.Code("the call", gpu.LaunchKernel(stream.get(), kernel, {}, nullptr));
  return steps.End();
}

// A stream is destroyed with its context (cuda.h:6286).
absl::StatusOr<Reading> StreamOfDestroyedContext(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedContext other, gpu.NewContext());
  api.CtxSetCurrent(other.get());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  const CUstream gone = stream.release();
  api.CtxSetCurrent(gpu.context());
  Steps steps(api);
  steps.Code("destroy", api.CtxDestroy(other.release()), CUDA_SUCCESS);
  steps.Code("the call", api.StreamSynchronize(gone));
  return steps.End();
}

constexpr char kUndefined[] = "figure: a code, or the driver crashes";
constexpr char kSilent[] = "none: cuda.h is silent";

constexpr Fact kFacts[] = {
    {"misuse.query_destroyed_event", "cuEventQuery of a destroyed event",
     kSilent, kUndefined, QueryEvent, Process::kMayDie},
    {"misuse.record_destroyed_event", "cuEventRecord of a destroyed event",
     kSilent, kUndefined, RecordEvent, Process::kMayDie},
    {"misuse.wait_for_destroyed_event",
     "cuStreamWaitEvent for a destroyed event", kSilent, kUndefined, WaitEvent,
     Process::kMayDie},
    {"misuse.synchronize_destroyed_event",
     "cuEventSynchronize of a destroyed event", kSilent, kUndefined,
     SynchronizeEvent, Process::kMayDie},
    {"misuse.destroy_event_twice", "cuEventDestroy twice", kSilent, kUndefined,
     DestroyEventTwice, Process::kMayDie},
    {"misuse.launch_in_destroyed_stream",
     "cuLaunchKernel in a destroyed stream", kSilent, kUndefined,
     LaunchInStream, Process::kMayDie},
    {"misuse.synchronize_destroyed_stream",
     "cuStreamSynchronize of a destroyed stream", kSilent, kUndefined,
     SynchronizeStream, Process::kMayDie},
    {"misuse.destroy_stream_twice", "cuStreamDestroy twice", kSilent,
     kUndefined, DestroyStreamTwice, Process::kMayDie},
    {"misuse.launch_destroyed_exec", "cuGraphLaunch of a destroyed exec",
     kSilent, kUndefined, LaunchExec, Process::kMayDie},
    {"misuse.launch_unloaded_kernel",
     "cuLaunchKernel of a kernel whose library was unloaded", kSilent,
     kUndefined, LaunchUnloaded, Process::kMayDie},
    {"misuse.stream_of_destroyed_context",
     "cuStreamSynchronize of a stream whose context was destroyed",
     "cuda.h:6286: undefined", kUndefined, StreamOfDestroyedContext,
     Process::kMayDie},
};

}  // namespace

FactGroup MisuseFacts() { return {"misuse", kFacts}; }

}  // namespace partita
