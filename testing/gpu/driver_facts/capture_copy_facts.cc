// Copies, fills and host calls inside a capture: what becomes a node.
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>
#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {
namespace {

constexpr CUstreamCaptureMode kThread = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;

// What a captured call left.
struct Captured {
  CUresult call = CUDA_SUCCESS;
  CUresult end = CUDA_SUCCESS;
  OwnedGraph graph;
  std::string kinds = "no graph";
};

absl::StatusOr<Captured> Capture(const Gpu& gpu, CUstream stream,
                                 const std::function<CUresult()>& call) {
  const DriverApi& api = gpu.api();
  Captured captured;
  PARTITA_RETURN_IF_ERROR(gpu.Status(api.StreamBeginCapture(stream, kThread),
                                     "cuStreamBeginCapture"));
  captured.call = call();
  CUgraph graph = nullptr;
  captured.end = api.StreamEndCapture(stream, &graph);
  captured.graph = OwnedGraph(api, graph);
  if (graph != nullptr) {
    PARTITA_ASSIGN_OR_RETURN(captured.kinds, KindsOf(gpu, graph));
  }
  return captured;
}

void NoteCaptured(const Captured& captured, Steps& steps) {
  steps.Code("call", captured.call);
  steps.Code("end", captured.end);
  steps.Note(captured.kinds);
}

// Launches the captured graph and reads the first word behind `to`.
absl::StatusOr<uint32_t> LaunchAndRead(const Gpu& gpu, CUgraph graph,
                                       CUstream stream, CUdeviceptr to) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(gpu.api(), graph));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(gpu.api().GraphLaunch(exec.get(), stream), "cuGraphLaunch"));
  PARTITA_RETURN_IF_ERROR(
      gpu.Status(gpu.api().StreamSynchronize(stream), "cuStreamSynchronize"));
  return gpu.ReadWord(to);
}

// `copy` moves 64 bytes whose first word is 77 from device memory to device
// memory inside a capture.
using DeviceCopy =
    std::function<CUresult(CUdeviceptr to, CUdeviceptr from, CUstream stream)>;

absl::StatusOr<Reading> CaptureDeviceCopy(Gpu& gpu, const DeviceCopy& copy,
                                          bool expected) {
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory from, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory to, gpu.NewMemory(64));
  gpu.Launch(stream.get(), "set_word", {}, from.get(), 77u);
  gpu.api().StreamSynchronize(stream.get());
  PARTITA_ASSIGN_OR_RETURN(const Captured captured,
                           Capture(gpu, stream.get(), [&] {
                             return copy(to.get(), from.get(), stream.get());
                           }));
  Steps steps(gpu.api());
  NoteCaptured(captured, steps);
  if (captured.graph.get() == nullptr) {
    if (expected) steps.Holds("gave a graph", false);
    return steps.End();
  }
  PARTITA_ASSIGN_OR_RETURN(
      const uint32_t word,
      LaunchAndRead(gpu, captured.graph.get(), stream.get(), to.get()));
  if (expected) {
    steps.Is("word copied by the graph", word, 77u);
  } else {
    steps.Figure("word_copied_by_the_graph", word);
  }
  return steps.End();
}

absl::StatusOr<Reading> DtoD(Gpu& gpu) {
  return CaptureDeviceCopy(
      gpu,
      [&](CUdeviceptr to, CUdeviceptr from, CUstream stream) {
        return gpu.api().MemcpyDtoDAsync(to, from, 64, stream);
      },
      true);
}

absl::StatusOr<Reading> Unified(Gpu& gpu) {
  return CaptureDeviceCopy(
      gpu,
      [&](CUdeviceptr to, CUdeviceptr from, CUstream stream) {
        return gpu.api().MemcpyAsync(to, from, 64, stream);
      },
      true);
}

absl::StatusOr<Reading> PeerSameContext(Gpu& gpu) {
  return CaptureDeviceCopy(
      gpu,
      [&](CUdeviceptr to, CUdeviceptr from, CUstream stream) {
        return gpu.api().MemcpyPeerAsync(to, gpu.context(), from, gpu.context(),
                                         64, stream);
      },
      false);
}

absl::StatusOr<Reading> PeerTwoContexts(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedContext other, gpu.NewContext());
  api.CtxSetCurrent(other.get());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory there, gpu.NewMemory(64));
  api.CtxSetCurrent(gpu.context());
  return CaptureDeviceCopy(
      gpu,
      [&](CUdeviceptr to, CUdeviceptr from, CUstream stream) {
        const CUresult out = api.MemcpyPeerAsync(there.get(), other.get(), from,
                                                 gpu.context(), 64, stream);
        if (out != CUDA_SUCCESS) return out;
        return api.MemcpyPeerAsync(to, gpu.context(), there.get(), other.get(),
                                   64, stream);
      },
      false);
}

using BatchCopy = decltype(&::cuMemcpyBatchAsync);

absl::StatusOr<BatchCopy> FindBatchCopy(const Gpu& gpu) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult how{};
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      gpu.api().GetProcAddress("cuMemcpyBatchAsync", &found, 13000,
                               CU_GET_PROC_ADDRESS_LEGACY_STREAM, &how),
      "cuGetProcAddress(cuMemcpyBatchAsync)"));
  return reinterpret_cast<BatchCopy>(found);
}

absl::StatusOr<Reading> Batch(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(const BatchCopy batch, FindBatchCopy(gpu));
  return CaptureDeviceCopy(
      gpu,
      [&](CUdeviceptr to, CUdeviceptr from, CUstream stream) {
        size_t bytes = 64;
        CUmemcpyAttributes attributes = {};
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        size_t index = 0;
        return batch(&to, &from, &bytes, 1, &attributes, &index, 1, stream);
      },
      false);
}

absl::StatusOr<Reading> Fill(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory to, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(
      const Captured captured, Capture(gpu, stream.get(), [&] {
        return gpu.api().MemsetD32Async(to.get(), 12, 16, stream.get());
      }));
  Steps steps(gpu.api());
  NoteCaptured(captured, steps);
  PARTITA_ASSIGN_OR_RETURN(
      const uint32_t word,
      LaunchAndRead(gpu, captured.graph.get(), stream.get(), to.get() + 60));
  steps.Is("word", word, 12u);
  return steps.End();
}

absl::StatusOr<Reading> PageableCopy(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory to, gpu.NewMemory(64));
  std::vector<uint32_t> host(16, 1);
  PARTITA_ASSIGN_OR_RETURN(
      const Captured captured, Capture(gpu, stream.get(), [&] {
        return api.MemcpyHtoDAsync(to.get(), host.data(), 64, stream.get());
      }));
  Steps steps(api);
  NoteCaptured(captured, steps);
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec,
                           Instantiate(api, captured.graph.get()));
  for (const uint32_t value : {2u, 3u}) {
    host[0] = value;
    api.GraphLaunch(exec.get(), stream.get());
    api.StreamSynchronize(stream.get());
    PARTITA_ASSIGN_OR_RETURN(const uint32_t word, gpu.ReadWord(to.get()));
    steps.Is("read at the launch", word, value);
  }
  return steps.End();
}

void CountCall(void* count) { ++*static_cast<int*>(count); }

absl::StatusOr<Reading> HostFunction(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  int count = 0;
  PARTITA_ASSIGN_OR_RETURN(
      const Captured captured, Capture(gpu, stream.get(), [&] {
        return api.LaunchHostFunc(stream.get(), CountCall, &count);
      }));
  Steps steps(api);
  NoteCaptured(captured, steps);
  steps.Is("nodes", captured.kinds, std::string("host 1"));
  steps.Is("calls at capture", count, 0);
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec,
                           Instantiate(api, captured.graph.get()));
  for (int i = 0; i < 2; ++i) api.GraphLaunch(exec.get(), stream.get());
  api.StreamSynchronize(stream.get());
  steps.Is("calls after two launches", count, 2);
  return steps.End();
}

absl::StatusOr<Reading> GraphInCapture(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  AddEmpty(gpu, graph.get(), {});
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  PARTITA_ASSIGN_OR_RETURN(const Captured captured,
                           Capture(gpu, stream.get(), [&] {
                             return api.GraphLaunch(exec.get(), stream.get());
                           }));
  Steps steps(api);
  NoteCaptured(captured, steps);
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"capture_copy.dtod", "cuMemcpyDtoDAsync is captured",
     "cuda.h:10615: nothing against it", "a node that copies", DtoD},
    {"capture_copy.unified", "cuMemcpyAsync is captured",
     "cuda.h:10497: nothing against it", "a node that copies", Unified},
    {"capture_copy.peer_same_context",
     "cuMemcpyPeerAsync in a capture, one context",
     "cuda.h:10500: nothing against it; one report says not capturable",
     "figure", PeerSameContext, Process::kOwn},
    {"capture_copy.peer_two_contexts",
     "cuMemcpyPeerAsync in a capture, two contexts of the device",
     "cuda.h:10500: nothing against it; one report says not capturable",
     "figure", PeerTwoContexts, Process::kOwn},
    {"capture_copy.batch",
     "cuMemcpyBatchAsync in a capture: reported as 900, the capture not "
     "invalidated, the copy lost",
     "none: rapidsai/rmm 2518", "figure", Batch, Process::kOwn},
    {"capture_copy.fill", "cuMemsetD32Async is captured", "none", "a node",
     Fill},
    {"capture_copy.pageable",
     "A captured copy of pageable memory reads it at every launch", "none",
     "2, then 3", PageableCopy, Process::kOwn},
    {"capture_copy.host_function",
     "A host function becomes a node, called at each launch", "cuda.h:19025",
     "0 calls, then 2", HostFunction},
    {"capture_copy.graph_launch", "cuGraphLaunch in a capture",
     "none: cuda.h is silent", "figure", GraphInCapture},
};

}  // namespace

FactGroup CaptureCopyFacts() { return {"capture_copy", kFacts}; }

}  // namespace partita
