// Captures: what becomes a node, and what ends them.
// SPDX-License-Identifier: Apache-2.0

#include <thread>

#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::driver_rules {
namespace {

constexpr CUstreamCaptureMode kThread = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
constexpr CUstreamCaptureMode kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

void Begin(Bench& bench, CUstream stream, CUstreamCaptureMode mode = kThread) {
  bench.Is("begin", bench.api.StreamBeginCapture(stream, mode));
}

CUgraph End(Bench& bench, CUstream stream, CUresult expected = CUDA_SUCCESS) {
  CUgraph graph = nullptr;
  bench.Is("end", bench.api.StreamEndCapture(stream, &graph), expected);
  bench.Holds("a graph, if that is well",
              (graph != nullptr) == (expected == CUDA_SUCCESS));
  CUstreamCaptureStatus state{};
  bench.Is("state", bench.api.StreamIsCapturing(stream, &state));
  bench.Equals("state", int{state}, int{CU_STREAM_CAPTURE_STATUS_NONE});
  return graph;
}

void EndInvalidated(Bench& bench, CUstream stream) {
  End(bench, stream, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

// A fork that rejoins.
void Plain(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr words = bench.Memory(64);
  CUevent out = bench.Event();
  CUevent back = bench.Event();
  Begin(bench, bench.one);
  bench.Is("launch", bench.Launch(bench.one, "add_word", words, 1u));
  bench.Is("record", api.EventRecord(out, bench.one));
  bench.Is("fork", api.StreamWaitEvent(bench.two, out, 0));
  bench.Is("launch", bench.Launch(bench.two, "copy_word", words + 4, words));
  bench.Is("launch", bench.Launch(bench.one, "set_word", words + 8, 1u));
  bench.Is("record", api.EventRecord(back, bench.two));
  bench.Is("join", api.StreamWaitEvent(bench.one, back, 0));
  bench.Is("launch", bench.Launch(bench.one, "add_word", words, 10u));
  CUgraph graph = End(bench, bench.one);
  bench.Equals("nodes", bench.NodesOf(graph), std::string("kernel 4"));
  bench.Equals("edges", bench.EdgesOf(graph), size_t{4});
  bench.Equals("nothing ran", bench.Word(words), 0u);
  bench.Run(graph);
  bench.Equals("word 0", bench.Word(words), 11u);
  bench.Equals("word 1", bench.Word(words + 4), 1u);
  bench.Is("destroy", api.GraphDestroy(graph));
}

void Kinds(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr memory = bench.Memory(128);
  uint32_t word = 2;
  Begin(bench, bench.one);
  bench.Is("fill", api.MemsetD32Async(memory, 7, 16, bench.one));
  bench.Is("DtoD", api.MemcpyDtoDAsync(memory + 64, memory, 64, bench.one));
  bench.Is("HtoD", api.MemcpyHtoDAsync(memory, &word, 4, bench.one));
  CUgraph graph = End(bench, bench.one);
  bench.Equals("nodes", bench.NodesOf(graph),
               std::string("memcpy 2, memset 1"));
  for (const uint32_t value : {3u, 4u}) {
    word = value;
    bench.Run(graph);
    bench.Equals("copied", bench.Word(memory + 64), 7u);
    bench.Equals("read at the launch", bench.Word(memory), value);
  }
  bench.Is("destroy", api.GraphDestroy(graph));
}

void Unjoined(Bench& bench) {
  const DriverApi& api = bench.api;
  CUevent event = bench.Event();
  Begin(bench, bench.one);
  bench.Is("launch", bench.Launch(bench.one, "empty"));
  bench.Is("record", api.EventRecord(event, bench.one));
  bench.Is("fork", api.StreamWaitEvent(bench.two, event, 0));
  bench.Is("launch", bench.Launch(bench.two, "empty"));
  End(bench, bench.one, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  bench.Is("launch in the fork", bench.Launch(bench.two, "empty"));
}

void Merge(Bench& bench) {
  const DriverApi& api = bench.api;
  CUevent event = bench.Event();
  Begin(bench, bench.one);
  Begin(bench, bench.two);
  bench.Is("launch", bench.Launch(bench.one, "empty"));
  bench.Is("record", api.EventRecord(event, bench.one));
  bench.Is("wait for the other capture",
           api.StreamWaitEvent(bench.two, event, 0),
           CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EndInvalidated(bench, bench.one);
  EndInvalidated(bench, bench.two);
}

void Isolation(Bench& bench) {
  const DriverApi& api = bench.api;
  CUevent event = bench.Event();
  bench.Is("record", api.EventRecord(event, bench.two));
  Begin(bench, bench.one);
  bench.Is("wait for what is outside", api.StreamWaitEvent(bench.one, event, 0),
           CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EndInvalidated(bench, bench.one);
}

void Legacy(Bench& bench) {
  const DriverApi& api = bench.api;
  CUstream blocking = nullptr;
  Begin(bench, bench.one);
  bench.Is("beside a NON_BLOCKING capture",
           bench.Launch(CU_STREAM_LEGACY, "empty"));
  bench.Is("destroy", api.GraphDestroy(End(bench, bench.one)));
  bench.Is("create", api.StreamCreate(&blocking, CU_STREAM_DEFAULT));
  Begin(bench, blocking);
  CUstreamCaptureStatus state{};
  bench.Is("state of the legacy stream",
           api.StreamIsCapturing(CU_STREAM_LEGACY, &state),
           CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  bench.Is("beside a blocking capture", bench.Launch(CU_STREAM_LEGACY, "empty"),
           CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EndInvalidated(bench, blocking);
  bench.Is("destroy", api.StreamDestroy(blocking));
  bench.Is("begin on it", api.StreamBeginCapture(CU_STREAM_LEGACY, kThread),
           CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

// Calls that are unsafe, and calls that are not.
void Unsafe(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUdeviceptr memory = 0;
  const auto forbids = [&](const char* name, auto call) {
    Begin(bench, bench.one);
    bench.Is(name, call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EndInvalidated(bench, bench.one);
  };
  forbids("cuMemAlloc", [&] { return api.MemAlloc(&memory, 64); });
  forbids("cuCtxSynchronize", [&] { return api.CtxSynchronize(); });
  forbids("cuStreamSynchronize",
          [&] { return api.StreamSynchronize(bench.one); });
  forbids("cuStreamSynchronize of another",
          [&] { return api.StreamSynchronize(bench.two); });
  forbids("cuStreamQuery", [&] { return api.StreamQuery(bench.one); });
  Begin(bench, bench.one);
  size_t free = 0;
  size_t total = 0;
  uint32_t seen = 1;
  bench.Is("cuMemGetInfo", api.MemGetInfo(&free, &total));
  bench.Is("cuMemcpyDtoH", api.MemcpyDtoH(&seen, word, 4));
  bench.Is("launch in another stream", bench.Launch(bench.two, "empty"));
  bench.Is("destroy", api.GraphDestroy(End(bench, bench.one)));
  Begin(bench, bench.one, kRelaxed);
  bench.Is("cuMemAlloc, relaxed", api.MemAlloc(&memory, 64));
  bench.Is("cuMemFree, relaxed", api.MemFree(memory));
  bench.Is("destroy", api.GraphDestroy(End(bench, bench.one)));
  CUstreamCaptureMode mode = kRelaxed;
  bench.Is("exchange", api.ThreadExchangeStreamCaptureMode(&mode));
  bench.Equals("the mode of before", int{mode},
               int{CU_STREAM_CAPTURE_MODE_GLOBAL});
  Begin(bench, bench.one);
  bench.Is("cuMemAlloc of a relaxed thread", api.MemAlloc(&memory, 64));
  bench.Is("cuMemFree", api.MemFree(memory));
  bench.Is("destroy", api.GraphDestroy(End(bench, bench.one)));
  bench.Is("exchange", api.ThreadExchangeStreamCaptureMode(&mode));
}

void WrongThread(Bench& bench) {
  const DriverApi& api = bench.api;
  for (const bool relaxed : {false, true}) {
    Begin(bench, bench.one, relaxed ? kRelaxed : kThread);
    CUresult result = CUDA_SUCCESS;
    CUgraph graph = nullptr;
    std::thread([&] {
      api.CtxSetCurrent(bench.context);
      result = api.StreamEndCapture(bench.one, &graph);
    }).join();
    bench.Is("end in another thread", result,
             relaxed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    if (graph != nullptr) bench.Is("destroy", api.GraphDestroy(graph));
    bench.Is("end here", api.StreamEndCapture(bench.one, &graph),
             CUDA_ERROR_ILLEGAL_STATE);
  }
  Begin(bench, bench.one);
  bench.Is("begin again", api.StreamBeginCapture(bench.one, kThread),
           CUDA_ERROR_ILLEGAL_STATE);
  bench.Is("destroy", api.GraphDestroy(End(bench, bench.one)));
}

void CapturedEvent(Bench& bench) {
  const DriverApi& api = bench.api;
  CUevent event = bench.Event();
  const auto begin = [&] {
    Begin(bench, bench.one, kRelaxed);
    bench.Is("launch", bench.Launch(bench.one, "empty"));
    bench.Is("record", api.EventRecord(event, bench.one));
  };
  begin();
  bench.Is("query", api.EventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
  EndInvalidated(bench, bench.one);
  begin();
  bench.Is("synchronize", api.EventSynchronize(event),
           CUDA_ERROR_CAPTURED_EVENT);
  EndInvalidated(bench, bench.one);
  begin();
  bench.Is("destroy", api.GraphDestroy(End(bench, bench.one)));
  bench.Is("query afterwards", api.EventQuery(event), CUDA_ERROR_INVALID_VALUE);
  bench.Is("wait afterwards", api.StreamWaitEvent(bench.two, event, 0),
           CUDA_ERROR_INVALID_VALUE);
  bench.Is("record anew", api.EventRecord(event, bench.two));
  bench.Is("synchronize then", api.EventSynchronize(event));
}

void IntoGraph(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUgraph graph = bench.Graph();
  const CUgraphNode set = bench.AddKernel(graph, {}, "set_word", word, 5u);
  const CUgraphNode empty = bench.AddEmpty(graph, {});
  const CUgraphNode after[] = {set, empty};
  bench.Is("begin", api.StreamBeginCaptureToGraph(bench.one, graph, after,
                                                  nullptr, 2, kThread));
  bench.Is("launch", bench.Launch(bench.one, "add_word", word, 1u));
  bench.Is("launch", bench.Launch(bench.one, "add_word", word, 1u));
  CUstreamCaptureStatus state{};
  cuuint64_t id = 0;
  CUgraph into = nullptr;
  const CUgraphNode* last = nullptr;
  const CUgraphEdgeData* kinds = nullptr;
  size_t count = 0;
  bench.Is("capture info",
           api.StreamGetCaptureInfo(bench.one, &state, &id, &into, &last,
                                    &kinds, &count));
  bench.Equals("nodes that the next one follows", count, size_t{1});
  bench.Holds("the graph that was given", into == graph);
  const CUgraphNode tail = count == 1 ? last[0] : nullptr;
  bench.Holds("end gives the same", End(bench, bench.one) == graph);
  bench.Equals("nodes", bench.NodesOf(graph), std::string("empty 1, kernel 3"));
  bench.Equals("edges", bench.EdgesOf(graph), size_t{3});
  bench.AddKernel(graph, {tail}, "add_word", word, 10u);
  bench.Run(graph);
  bench.Equals("word", bench.Word(word), 17u);
}

void InvalidatedGraph(Bench& bench) {
  const DriverApi& api = bench.api;
  CUgraph graph = nullptr;
  bench.Is("create", api.GraphCreate(&graph, 0));
  const CUgraphNode node = bench.AddEmpty(graph, {});
  bench.Is("begin", api.StreamBeginCaptureToGraph(bench.one, graph, &node,
                                                  nullptr, 1, kThread));
  bench.Is("synchronize inside", api.StreamSynchronize(bench.one),
           CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EndInvalidated(bench, bench.one);
  bench.Is("the graph is gone", api.GraphDestroy(graph),
           CUDA_ERROR_INVALID_VALUE);
}

void NotCaptured(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr a = bench.Memory(64);
  const CUdeviceptr b = bench.Memory(64);
  Begin(bench, bench.one);
  bench.Is(
      "cuMemcpyPeerAsync",
      api.MemcpyPeerAsync(a, bench.context, b, bench.context, 64, bench.one),
      CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EndInvalidated(bench, bench.one);
  CUgraph graph = bench.Graph();
  bench.AddEmpty(graph, {});
  CUgraphExec exec = nullptr;
  bench.Is("instantiate", api.GraphInstantiate(&exec, graph, 0));
  Begin(bench, bench.one);
  bench.Is("cuGraphLaunch", api.GraphLaunch(exec, bench.one),
           CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EndInvalidated(bench, bench.one);
  bench.Is("destroy", api.GraphExecDestroy(exec));
}

constexpr Rule kRules[] = {
    {"capture.plain", "cuda.h:15348", Plain},
    {"capture.kinds", "capture_copy.pageable", Kinds},
    {"capture.unjoined", "cuda.h:3097", Unjoined},
    {"capture.merge", "cuda.h:3086", Merge},
    {"capture.isolation", "cuda.h:3104", Isolation},
    {"capture.legacy", "cuda.h:3110, 15525", Legacy},
    {"capture.unsafe", "cuda.h:15442", Unsafe},
    {"capture.wrong_thread", "cuda.h:3123", WrongThread},
    {"capture.captured_event", "cuda.h:3116", CapturedEvent},
    {"capture.into_graph", "cuda.h:15386, 15401", IntoGraph},
    {"capture.invalidated_graph", "graph_misuse.invalidated_destroy",
     InvalidatedGraph},
    {"capture.not_captured", "capture_copy.peer_same_context", NotCaptured},
};

}  // namespace

absl::Span<const Rule> CaptureRules() { return kRules; }

}  // namespace partita::driver_rules
