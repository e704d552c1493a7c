// Graphs of the shapes that plans give: lanes, child graphs, first launches.
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_timing.h"

namespace partita {
namespace {

constexpr int kCopies = 10;

// Time of one instantiation, bytes of an exec, times of its launches.
absl::Status MeasureGraph(const Gpu& gpu, CUgraph graph,
                          const std::string& name, Steps& steps) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  std::vector<OwnedGraphExec> execs;
  const int64_t before = gpu.FreeBytes();
  const double start = HostSeconds();
  for (int i = 0; i < kCopies; ++i) {
    PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph));
    execs.push_back(std::move(exec));
  }
  steps.Figure(name + "_instantiate_us",
               (HostSeconds() - start) * 1e6 / kCopies);
  steps.Figure(name + "_bytes",
               static_cast<double>(before - gpu.FreeBytes()) / kCopies);
  TimeLaunches(gpu, execs[0].get(), stream.get(), name, steps);
  return absl::OkStatus();
}

absl::StatusOr<Reading> Lanes(Gpu& gpu) {
  Steps steps(gpu.api());
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph,
                             BuildLanes(gpu, lanes, 1024 / lanes, 8));
    PARTITA_RETURN_IF_ERROR(
        MeasureGraph(gpu, graph.get(), absl::StrCat("lanes_", lanes), steps));
  }
  return steps.End();
}

// Eight child graphs of 128 kernels behind each other, and the same flat.
absl::StatusOr<Reading> ChildGraphs(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph child, BuildLanes(gpu, 1, 128));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  CUgraphNode last = nullptr;
  Steps steps(gpu.api());
  for (int i = 0; i < 8; ++i) {
    CUgraphNode node = nullptr;
    const CUresult result = gpu.api().GraphAddChildGraphNode(
        &node, graph.get(), i > 0 ? &last : nullptr, i > 0 ? 1 : 0,
        child.get());
    PARTITA_RETURN_IF_ERROR(gpu.Status(result, "cuGraphAddChildGraphNode"));
    last = node;
  }
  PARTITA_RETURN_IF_ERROR(MeasureGraph(gpu, graph.get(), "children", steps));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph flat, BuildLanes(gpu, 1, 1024));
  PARTITA_RETURN_IF_ERROR(MeasureGraph(gpu, flat.get(), "flat", steps));
  return steps.End();
}

// The first launch of an exec, uploaded before or not.
absl::StatusOr<Reading> FirstLaunch(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  for (const int lanes : {1, 4}) {
    PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph,
                             BuildLanes(gpu, lanes, 1024 / lanes, 8));
    for (const bool uploaded : {false, true}) {
      PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec,
                               Instantiate(api, graph.get()));
      if (uploaded) {
        api.GraphUpload(exec.get(), stream.get());
        api.StreamSynchronize(stream.get());
      }
      const std::string name = absl::StrCat(
          "lanes_", lanes, uploaded ? "_uploaded" : "_not_uploaded");
      const double start = HostSeconds();
      api.GraphLaunch(exec.get(), stream.get());
      steps.Figure(name + "_launch_us", (HostSeconds() - start) * 1e6);
      api.StreamSynchronize(stream.get());
      steps.Figure(name + "_done_us", (HostSeconds() - start) * 1e6);
    }
  }
  return steps.End();
}

// Does an instantiation, or an upload, wait for a kernel that runs?
absl::StatusOr<Reading> BesideKernel(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream held, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, BuildLanes(gpu, 4, 256, 8));
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  gate.Block(held.get(), 1.0);
  Steps steps(api);
  const auto time = [&](const char* name, auto call) {
    const double start = HostSeconds();
    steps.Code(name, call());
    steps.Figure(absl::StrCat(name, "_ms"), (HostSeconds() - start) * 1e3);
  };
  CUgraphExec exec = nullptr;
  time("instantiate",
       [&] { return api.GraphInstantiate(&exec, graph.get(), 0); });
  OwnedGraphExec owner(api, exec);
  time("upload", [&] { return api.GraphUpload(exec, stream.get()); });
  time("launch", [&] { return api.GraphLaunch(exec, stream.get()); });
  time("synchronize", [&] { return api.StreamSynchronize(stream.get()); });
  time("destroy", [&] { return api.GraphExecDestroy(owner.release()); });
  steps.Note(gate.ran_out() ? "the kernel ended meanwhile"
                            : "the kernel ran all the while");
  gate.Open();
  api.CtxSynchronize();
  return steps.End();
}

// Is the memory of destroyed execs taken for later ones?
absl::StatusOr<Reading> MemoryReuse(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, BuildLanes(gpu, 4, 256, 8));
  const int64_t before = gpu.FreeBytes();
  Steps steps(gpu.api());
  for (int round = 0; round < 3; ++round) {
    std::vector<OwnedGraphExec> execs;
    for (int i = 0; i < kCopies; ++i) {
      PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec,
                               Instantiate(gpu.api(), graph.get()));
      execs.push_back(std::move(exec));
    }
    steps.Figure(absl::StrCat("taken_in_round_", round, "_bytes"),
                 static_cast<double>(before - gpu.FreeBytes()));
  }
  steps.Figure("kept_bytes", static_cast<double>(before - gpu.FreeBytes()));
  return steps.End();
}

absl::StatusOr<Reading> AllocNode(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  CUdeviceptr memory = 0;
  Steps steps(api);
  api.StreamBeginCapture(stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  steps.Code("cuMemAllocAsync in a capture",
             gpu.api().MemAllocAsync(&memory, 4096, stream.get()),
             CUDA_SUCCESS);
  CUgraph handle = nullptr;
  steps.Code("end", api.StreamEndCapture(stream.get(), &handle), CUDA_SUCCESS);
  OwnedGraph graph(api, handle);
  PARTITA_ASSIGN_OR_RETURN(const std::string kinds, KindsOf(gpu, handle));
  steps.Is("nodes", kinds, std::string("mem alloc 1"));
  CUgraphExec first = nullptr;
  CUgraphExec second = nullptr;
  steps.Code("instantiate", api.GraphInstantiate(&first, handle, 0),
             CUDA_SUCCESS);
  OwnedGraphExec owner(api, first);
  const CUresult again = api.GraphInstantiate(&second, handle, 0);
  steps.Code("instantiate again", again);
  steps.Holds("is refused", again != CUDA_SUCCESS);
  steps.Code("launch", api.GraphLaunch(first, stream.get()), CUDA_SUCCESS);
  steps.Code("launch again, not freed", api.GraphLaunch(first, stream.get()),
             CUDA_ERROR_INVALID_VALUE);
  api.StreamSynchronize(stream.get());
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"graph_shape.lanes",
     "1024 kernels in some chains, each waiting for its neighbour at every "
     "eighth kernel",
     "none", "figure", Lanes, Process::kOwn},
    {"graph_shape.child_graphs", "Eight child graphs of 128 kernels, and flat",
     "none", "figure", ChildGraphs, Process::kOwn},
    {"graph_shape.first_launch", "First launches with and without an upload",
     "none", "figure", FirstLaunch, Process::kOwn},
    {"graph_shape.beside_kernel",
     "Instantiation, upload and launch while a kernel runs in another stream",
     "none", "figure", BesideKernel, Process::kOwn},
    {"graph_shape.memory_reuse",
     "Device memory of ten execs of 1024 kernels, made and destroyed thrice",
     "none", "figure", MemoryReuse, Process::kOwn},
    {"graph_shape.alloc_node",
     "cuMemAllocAsync in a capture is a node; a graph with one has one exec",
     "cuda.h:20371, 21055", "one exec; no launch before the memory is freed",
     AllocNode, Process::kMayDie},
};

}  // namespace

FactGroup GraphShapeFacts() { return {"graph_shape", kFacts}; }

}  // namespace partita
