// Capture: its rules, the codes of what breaks them, and what is left after it.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <thread>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {
namespace {

constexpr CUstreamCaptureMode kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
constexpr CUstreamCaptureMode kThread = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
constexpr CUstreamCaptureMode kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

const char* ModeName(CUstreamCaptureMode mode) {
  if (mode == kGlobal) return "GLOBAL";
  return mode == kThread ? "THREAD_LOCAL" : "RELAXED";
}

std::string CaptureState(const Gpu& gpu, CUstream stream) {
  CUstreamCaptureStatus state{};
  const CUresult result = gpu.api().StreamIsCapturing(stream, &state);
  if (result != CUDA_SUCCESS) return CudaCodeName(gpu.api(), result);
  if (state == CU_STREAM_CAPTURE_STATUS_NONE) return "none";
  return state == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active" : "invalidated";
}

// Ends the capture and says what came of it: code, graph, state.
CUresult EndCapture(const Gpu& gpu, CUstream stream, OwnedGraph& graph) {
  CUgraph handle = nullptr;
  const CUresult result = gpu.api().StreamEndCapture(stream, &handle);
  graph = OwnedGraph(gpu.api(), handle);
  return result;
}

std::string GraphText(const Gpu& gpu, const OwnedGraph& graph) {
  if (graph.get() == nullptr) return "no graph";
  const absl::StatusOr<std::string> kinds = KindsOf(gpu, graph.get());
  return kinds.ok() ? *kinds : std::string(kinds.status().message());
}

void NoteEnd(const Gpu& gpu, CUstream stream, Steps& steps) {
  steps.Note(absl::StrCat("state ", CaptureState(gpu, stream)));
  OwnedGraph graph;
  steps.Code("end", EndCapture(gpu, stream, graph));
  steps.Note(GraphText(gpu, graph));
  steps.Note(absl::StrCat("state after ", CaptureState(gpu, stream)));
}

absl::StatusOr<Reading> Plain(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream fork, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent out, gpu.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent back, gpu.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory words, gpu.NewMemory(64));
  Steps steps(api);
  steps.Code("begin", api.StreamBeginCapture(stream.get(), kThread),
             CUDA_SUCCESS);
  gpu.Launch(stream.get(), "add_word", {}, words.get(), 1u);
  steps.Code("record", api.EventRecord(out.get(), stream.get()), CUDA_SUCCESS);
  steps.Code("fork", api.StreamWaitEvent(fork.get(), out.get(), 0),
             CUDA_SUCCESS);
  steps.Is("state of the fork", CaptureState(gpu, fork.get()),
           std::string("active"));
  gpu.Launch(fork.get(), "add_word", {}, words.get() + 4, 1u);
  gpu.Launch(stream.get(), "add_word", {}, words.get(), 1u);
  steps.Code("record", api.EventRecord(back.get(), fork.get()), CUDA_SUCCESS);
  steps.Code("join", api.StreamWaitEvent(stream.get(), back.get(), 0),
             CUDA_SUCCESS);
  OwnedGraph graph;
  steps.Code("end", EndCapture(gpu, stream.get(), graph), CUDA_SUCCESS);
  steps.Is("nodes", GraphText(gpu, graph), std::string("kernel 3"));
  PARTITA_ASSIGN_OR_RETURN(const auto edges, EdgesOf(gpu, graph.get()));
  steps.Is("edges", edges.size(), size_t{2});
  PARTITA_ASSIGN_OR_RETURN(const uint32_t word, gpu.ReadWord(words.get()));
  steps.Is("nothing ran: word", word, 0u);
  steps.Is("state after", CaptureState(gpu, fork.get()), std::string("none"));
  return steps.End();
}

absl::StatusOr<Reading> Unjoined(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream fork, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  Steps steps(api);
  api.StreamBeginCapture(stream.get(), kThread);
  gpu.Launch(stream.get(), "empty", {});
  api.EventRecord(event.get(), stream.get());
  api.StreamWaitEvent(fork.get(), event.get(), 0);
  gpu.Launch(fork.get(), "empty", {});
  OwnedGraph graph;
  steps.Code("end", EndCapture(gpu, stream.get(), graph),
             CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  steps.Note(GraphText(gpu, graph));
  steps.Note(absl::StrCat("states after: origin ",
                          CaptureState(gpu, stream.get()), ", fork ",
                          CaptureState(gpu, fork.get())));
  steps.Code("launch in the fork", gpu.Launch(fork.get(), "empty", {}));
  steps.Code("launch in the origin", gpu.Launch(stream.get(), "empty", {}),
             CUDA_SUCCESS);
  return steps.End();
}

absl::StatusOr<Reading> Merge(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream one, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream two, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  Steps steps(api);
  api.StreamBeginCapture(one.get(), kThread);
  api.StreamBeginCapture(two.get(), kThread);
  gpu.Launch(one.get(), "empty", {});
  gpu.Launch(two.get(), "empty", {});
  api.EventRecord(event.get(), one.get());
  steps.Code("wait for another capture's event",
             api.StreamWaitEvent(two.get(), event.get(), 0),
             CUDA_ERROR_STREAM_CAPTURE_MERGE);
  NoteEnd(gpu, one.get(), steps);
  NoteEnd(gpu, two.get(), steps);
  return steps.End();
}

absl::StatusOr<Reading> Isolation(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream outside, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent event, gpu.NewEvent());
  Steps steps(api);
  api.EventRecord(event.get(), outside.get());
  api.StreamBeginCapture(stream.get(), kThread);
  gpu.Launch(stream.get(), "empty", {});
  steps.Code("wait for an event recorded outside",
             api.StreamWaitEvent(stream.get(), event.get(), 0),
             CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  NoteEnd(gpu, stream.get(), steps);
  api.StreamBeginCapture(stream.get(), kThread);
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent unrecorded, gpu.NewEvent());
  steps.Code("wait for an event never recorded",
             api.StreamWaitEvent(stream.get(), unrecorded.get(), 0));
  NoteEnd(gpu, stream.get(), steps);
  return steps.End();
}

// Legacy stream while a blocking, and a non-blocking, stream captures.
absl::StatusOr<Reading> Legacy(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  for (const unsigned flags : {1u, 0u}) {
    PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, NewStream(api, flags));
    api.StreamBeginCapture(stream.get(), kThread);
    gpu.Launch(stream.get(), "empty", {});
    const CUresult result = gpu.Launch(CU_STREAM_LEGACY, "empty", {});
    if (flags == CU_STREAM_NON_BLOCKING) {
      steps.Code("launch in the legacy stream, NON_BLOCKING captures", result);
    } else {
      steps.Code("launch in the legacy stream, a blocking stream captures",
                 result, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
      steps.Note(absl::StrCat("state of the legacy stream ",
                              CaptureState(gpu, CU_STREAM_LEGACY)));
    }
    NoteEnd(gpu, stream.get(), steps);
  }
  steps.Code("begin on the legacy stream",
             api.StreamBeginCapture(CU_STREAM_LEGACY, kThread));
  return steps.End();
}

// An unsafe call in this thread, and in another, while this one captures.
template <typename Call>
void UnsafeCall(const Gpu& gpu, absl::string_view name, Call call,
                Steps& steps) {
  const DriverApi& api = gpu.api();
  for (const CUstreamCaptureMode mode : {kGlobal, kThread, kRelaxed}) {
    for (const bool other_thread : {false, true}) {
      absl::StatusOr<OwnedStream> stream = gpu.NewStream();
      if (!stream.ok()) return steps.Note(stream.status().message());
      api.StreamBeginCapture(stream->get(), mode);
      gpu.Launch(stream->get(), "empty", {});
      CUresult result = CUDA_SUCCESS;
      if (other_thread) {
        std::thread([&] {
          api.CtxSetCurrent(gpu.context());
          result = call();
        }).join();
      } else {
        result = call();
      }
      const bool forbidden =
          mode == kGlobal || (mode == kThread && !other_thread);
      steps.Code(
          absl::StrCat(name, " ", ModeName(mode),
                       other_thread ? " other thread" : ""),
          result,
          forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
      steps.Note(CaptureState(gpu, stream->get()));
      OwnedGraph graph;
      EndCapture(gpu, stream->get(), graph);
    }
  }
}

absl::StatusOr<Reading> UnsafeAlloc(Gpu& gpu) {
  Steps steps(gpu.api());
  UnsafeCall(
      gpu, "cuMemAlloc",
      [&] {
        CUdeviceptr memory = 0;
        return gpu.api().MemAlloc(&memory, 256);
      },
      steps);
  return steps.End();
}

// What of the other calls of a load is unsafe, by the thread that captures in
// mode THREAD_LOCAL.
absl::StatusOr<Reading> OtherCalls(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory memory, gpu.NewMemory(256));
  PARTITA_ASSIGN_OR_RETURN(OwnedStream outside, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedEvent recorded, gpu.NewEvent());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  api.EventRecord(recorded.get(), outside.get());
  Steps steps(api);
  const auto try_call = [&](const char* name, auto call) {
    api.StreamBeginCapture(stream.get(), kThread);
    gpu.Launch(stream.get(), "empty", {});
    steps.Code(name, call());
    steps.Note(CaptureState(gpu, stream.get()));
    OwnedGraph graph;
    EndCapture(gpu, stream.get(), graph);
  };
  try_call("cuStreamSynchronize of the capturing stream",
           [&] { return api.StreamSynchronize(stream.get()); });
  try_call("cuStreamQuery of it",
           [&] { return api.StreamQuery(stream.get()); });
  try_call("cuStreamSynchronize of another",
           [&] { return api.StreamSynchronize(outside.get()); });
  try_call("cuCtxSynchronize", [&] { return api.CtxSynchronize(); });
  try_call("cuEventQuery of an outside event",
           [&] { return api.EventQuery(recorded.get()); });
  try_call("cuMemGetInfo", [&] {
    size_t free = 0;
    size_t total = 0;
    return api.MemGetInfo(&free, &total);
  });
  try_call("cuMemHostAlloc", [&] {
    void* host = nullptr;
    return api.MemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_PORTABLE);
  });
  try_call("cuMemcpyDtoH", [&] {
    uint32_t word = 0;
    return api.MemcpyDtoH(&word, memory.get(), 4);
  });
  try_call("cuLibraryLoadData", [&] {
    CUlibrary library = nullptr;
    return api.LibraryLoadData(&library, kTestKernels, nullptr, nullptr, 0,
                               nullptr, nullptr, 0);
  });
  try_call("cuGraphInstantiate", [&] {
    CUgraph empty = nullptr;
    CUgraphExec exec = nullptr;
    const CUresult made = api.GraphCreate(&empty, 0);
    return made != CUDA_SUCCESS ? made : api.GraphInstantiate(&exec, empty, 0);
  });
  try_call("cuMemFree", [&] { return api.MemFree(memory.release()); });
  try_call("cuStreamCreate", [&] {
    CUstream made = nullptr;
    return api.StreamCreate(&made, CU_STREAM_NON_BLOCKING);
  });
  try_call("cuEventCreate", [&] {
    CUevent made = nullptr;
    return api.EventCreate(&made, CU_EVENT_DISABLE_TIMING);
  });
  try_call("launch in another stream",
           [&] { return gpu.Launch(outside.get(), "empty", {}); });
  api.CtxSynchronize();
  return steps.End();
}

absl::StatusOr<Reading> WrongThread(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  for (const CUstreamCaptureMode mode : {kThread, kRelaxed}) {
    api.StreamBeginCapture(stream.get(), mode);
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      api.CtxSetCurrent(gpu.context());
      CUgraph graph = nullptr;
      result = api.StreamEndCapture(stream.get(), &graph);
    }).join();
    steps.Code(absl::StrCat("end in another thread, ", ModeName(mode)), result,
               mode == kRelaxed ? CUDA_SUCCESS
                                : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    steps.Note(CaptureState(gpu, stream.get()));
    OwnedGraph graph;
    steps.Code("end here", EndCapture(gpu, stream.get(), graph));
  }
  steps.Code("begin twice", api.StreamBeginCapture(stream.get(), kThread),
             CUDA_SUCCESS);
  steps.Code("second", api.StreamBeginCapture(stream.get(), kThread));
  NoteEnd(gpu, stream.get(), steps);
  return steps.End();
}

// A library call captured by itself: its dependencies come from the plan.
absl::StatusOr<Reading> IntoGraph(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  const NodeCall a = AddEmpty(gpu, graph.get(), {});
  const NodeCall b = AddEmpty(gpu, graph.get(), {});
  const GraphNodes after = {a.node, b.node};
  Steps steps(api);
  steps.Code(
      "begin into a graph behind two nodes",
      api.StreamBeginCaptureToGraph(stream.get(), graph.get(), after.data(),
                                    nullptr, after.size(), kThread),
      CUDA_SUCCESS);
  gpu.Launch(stream.get(), "empty", {});
  gpu.Launch(stream.get(), "empty", {});
  CUstreamCaptureStatus state{};
  cuuint64_t id = 0;
  CUgraph capturing = nullptr;
  const CUgraphNode* last = nullptr;
  const CUgraphEdgeData* kinds = nullptr;
  size_t count = 0;
  steps.Code("capture info",
             api.StreamGetCaptureInfo(stream.get(), &state, &id, &capturing,
                                      &last, &kinds, &count),
             CUDA_SUCCESS);
  steps.Is("nodes that the next one follows", count, size_t{1});
  const CUgraphNode tail = count == 1 ? last[0] : nullptr;
  steps.Holds("the graph is the one given", capturing == graph.get());
  CUgraph ended = nullptr;
  steps.Code("end", api.StreamEndCapture(stream.get(), &ended), CUDA_SUCCESS);
  steps.Holds("end gives the same graph", ended == graph.get());
  PARTITA_ASSIGN_OR_RETURN(const std::string kinds_of,
                           KindsOf(gpu, graph.get()));
  steps.Is("nodes", kinds_of, std::string("empty 2, kernel 2"));
  PARTITA_ASSIGN_OR_RETURN(const auto edges, EdgesOf(gpu, graph.get()));
  steps.Is("edges", edges.size(), size_t{3});
  steps.Code("a node behind the captured tail",
             AddEmpty(gpu, graph.get(), {tail}).result, CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  steps.Code("launch", api.GraphLaunch(exec.get(), stream.get()), CUDA_SUCCESS);
  api.StreamSynchronize(stream.get());
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"capture.plain",
     "A capture with a fork that rejoins gives its nodes and edges, and runs "
     "nothing",
     "cuda.h:15348", "3 kernels, 2 edges", Plain},
    {"capture.unjoined", "A fork that is not rejoined ends in UNJOINED",
     "cuda.h:3097", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", Unjoined},
    {"capture.merge", "Two captures cannot be merged", "cuda.h:3086",
     "CUDA_ERROR_STREAM_CAPTURE_MERGE", Merge},
    {"capture.isolation", "No wait for an event from outside the capture",
     "cuda.h:3104", "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", Isolation},
    {"capture.legacy_stream",
     "No use of the legacy stream beside the capture of a blocking stream",
     "cuda.h:3110, 15525", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", Legacy,
     Process::kOwn},
    {"capture.unsafe_alloc",
     "cuMemAlloc is refused by mode and thread: GLOBAL everywhere, "
     "THREAD_LOCAL in its thread, RELAXED nowhere",
     "cuda.h:15453", "900 where forbidden", UnsafeAlloc, Process::kOwn},
    {"capture.other_calls",
     "Codes of other calls inside a THREAD_LOCAL capture",
     "cuda.h:15442: one example", "figure", OtherCalls, Process::kOwn},
    {"capture.wrong_thread",
     "Unless RELAXED, a capture ends in the thread that began it",
     "cuda.h:3123", "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD", WrongThread,
     Process::kOwn},
    {"capture.into_graph",
     "Capture into a graph puts its first node behind the given ones",
     "cuda.h:15386, 15401", "2 empty, 2 kernel, 3 edges", IntoGraph},
};

}  // namespace

FactGroup CaptureFacts() { return {"capture", kFacts}; }

}  // namespace partita
