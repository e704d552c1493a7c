// Explicit graphs: what they hold, what orders them, who may launch them.
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {
namespace {

// fill -> kernel -> copy to the host, and an empty node behind the fill.
absl::StatusOr<Reading> BuildAndReadBack(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory words, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(PinnedMemory host, gpu.NewPinned(64));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  Steps steps(api);
  const NodeCall fill = AddFill(gpu, graph.get(), {}, words.get(), 40, 16);
  steps.Code("add memset", fill.result, CUDA_SUCCESS);
  const NodeCall add =
      AddKernel(gpu, graph.get(), {fill.node}, "add_word", {}, words.get(), 2u);
  steps.Code("add kernel", add.result, CUDA_SUCCESS);
  const NodeCall copy = AddCopy(gpu, graph.get(), {add.node},
                                reinterpret_cast<CUdeviceptr>(host.get()),
                                words.get(), 64, gpu.context());
  steps.Code("add memcpy", copy.result, CUDA_SUCCESS);
  const NodeCall empty = AddEmpty(gpu, graph.get(), {fill.node});
  steps.Code("add empty", empty.result, CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(const std::string kinds, KindsOf(gpu, graph.get()));
  steps.Is("nodes", kinds,
           std::string("empty 1, kernel 1, memcpy 1, memset 1"));
  PARTITA_ASSIGN_OR_RETURN(auto edges, EdgesOf(gpu, graph.get()));
  std::vector<std::pair<CUgraphNode, CUgraphNode>> wanted = {
      {fill.node, add.node}, {add.node, copy.node}, {fill.node, empty.node}};
  absl::c_sort(edges);
  absl::c_sort(wanted);
  steps.Holds("edges read back equal those given", edges == wanted);
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  steps.Code("launch", api.GraphLaunch(exec.get(), stream.get()), CUDA_SUCCESS);
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  const uint32_t* seen = static_cast<uint32_t*>(host.get());
  steps.Is("word 0", seen[0], 42u);
  steps.Is("word 1", seen[1], 40u);
  return steps.End();
}

absl::StatusOr<Reading> NoEdgeRunsAtOnce(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory words, gpu.NewMemory(8));
  Steps steps(api);
  for (const uint32_t width : {2, 8, 32, 128}) {
    PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
    for (uint32_t i = 0; i < width; ++i) {
      AddKernel(gpu, graph.get(), {}, "await_all", {}, words.get(), width,
                uint64_t{100000000});
    }
    PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec,
                             Instantiate(api, graph.get()));
    api.MemsetD8Async(words.get(), 0, 8, stream.get());
    api.GraphLaunch(exec.get(), stream.get());
    api.StreamSynchronize(stream.get());
    PARTITA_ASSIGN_OR_RETURN(const uint32_t saw_all,
                             gpu.ReadWord(words.get() + 4));
    const std::string what =
        absl::StrCat(width, " nodes without edges, saw all started");
    if (width == 2) {
      steps.Is(what, saw_all, width);
    } else {
      steps.Figure(absl::StrCat("saw_all_of_", width), saw_all);
    }
  }
  return steps.End();
}

absl::StatusOr<Reading> EdgeOrders(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory words, gpu.NewMemory(8));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  const NodeCall first = AddKernel(gpu, graph.get(), {}, "await_all", {},
                                   words.get(), 2u, uint64_t{20000000});
  AddKernel(gpu, graph.get(), {first.node}, "await_all", {}, words.get(), 2u,
            uint64_t{20000000});
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  Steps steps(api);
  steps.Code("launch", api.GraphLaunch(exec.get(), stream.get()), CUDA_SUCCESS);
  api.StreamSynchronize(stream.get());
  PARTITA_ASSIGN_OR_RETURN(const uint32_t saw_all,
                           gpu.ReadWord(words.get() + 4));
  steps.Is("of two nodes with an edge, saw both started", saw_all, 1u);
  return steps.End();
}

// The same exec launched twice; a kernel of the graph waits for a partner,
// which a launch that overlapped would be.
absl::StatusOr<Reading> LaunchedTwice(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream first, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedStream second, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory words, gpu.NewMemory(8));
  Steps steps(api);
  for (const bool two_streams : {false, true}) {
    PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
    AddKernel(gpu, graph.get(), {}, "await_all", {}, words.get(), 2u,
              uint64_t{50000000});
    PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec,
                             Instantiate(api, graph.get()));
    api.MemsetD8Async(words.get(), 0, 8, first.get());
    api.StreamSynchronize(first.get());
    steps.Code("launch", api.GraphLaunch(exec.get(), first.get()),
               CUDA_SUCCESS);
    const double start = HostSeconds();
    steps.Code(
        "launch again",
        api.GraphLaunch(exec.get(), two_streams ? second.get() : first.get()),
        CUDA_SUCCESS);
    steps.Holds("the second call returned at once",
                HostSeconds() - start < 0.02);
    api.CtxSynchronize();
    PARTITA_ASSIGN_OR_RETURN(const uint32_t saw_all,
                             gpu.ReadWord(words.get() + 4));
    steps.Is(two_streams ? "in two streams, saw both started"
                         : "in one stream, saw both started",
             saw_all, 1u);
  }
  return steps.End();
}

// Does destroying an exec that runs wait, and does it still end its work?
absl::StatusOr<Reading> DestroyRunning(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory words, gpu.NewMemory(8));
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  AddKernel(gpu, graph.get(), {}, "set_word", {}, words.get(), 6u);
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  Steps steps(api);
  gate.Block(stream.get());
  steps.Code("launch", api.GraphLaunch(exec.get(), stream.get()), CUDA_SUCCESS);
  double start = HostSeconds();
  steps.Code("destroy exec", api.GraphExecDestroy(exec.release()),
             CUDA_SUCCESS);
  steps.Figure("destroy_ms", (HostSeconds() - start) * 1e3);
  steps.Code("destroy graph", api.GraphDestroy(graph.release()), CUDA_SUCCESS);
  gate.Open();
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(const uint32_t word, gpu.ReadWord(words.get()));
  steps.Is("its work was done: word", word, 6u);
  return steps.End();
}

// Does a graph take the kernel's parameters when the node is added?
absl::StatusOr<Reading> UpdateParameters(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory words, gpu.NewMemory(8));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  CUdeviceptr address = words.get();
  uint32_t value = 1;
  void* parameters[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS params =
      KernelNode(gpu, "add_word", {}, parameters, gpu.context());
  CUgraphNode node = nullptr;
  Steps steps(api);
  steps.Code("add",
             api.GraphAddKernelNode(&node, graph.get(), nullptr, 0, &params),
             CUDA_SUCCESS);
  value = 100;
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  api.GraphLaunch(exec.get(), stream.get());
  api.StreamSynchronize(stream.get());
  PARTITA_ASSIGN_OR_RETURN(const uint32_t first, gpu.ReadWord(words.get()));
  steps.Is("a value changed after the node was added counts as", first, 1u);
  value = 20;
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  gate.Block(stream.get());
  steps.Code("launch", api.GraphLaunch(exec.get(), stream.get()), CUDA_SUCCESS);
  steps.Code("set parameters while a launch is pending",
             api.GraphExecKernelNodeSetParams(exec.get(), node, &params),
             CUDA_SUCCESS);
  steps.Code("launch", api.GraphLaunch(exec.get(), stream.get()), CUDA_SUCCESS);
  gate.Open();
  api.StreamSynchronize(stream.get());
  PARTITA_ASSIGN_OR_RETURN(const uint32_t second, gpu.ReadWord(words.get()));
  steps.Is("the pending launch kept its value, the next has the new: sum",
           second, 1u + 1u + 20u);
  return steps.End();
}

// A memcpy node of pageable memory, launched behind a closed gate; the memory
// is changed when the launch has returned.
absl::Status ChangeBehindLaunch(const Gpu& gpu, size_t bytes, Steps& steps) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory device, gpu.NewMemory(bytes));
  std::vector<uint32_t> pageable(bytes / 4, 8);
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = pageable.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device.get();
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  CUgraphNode node = nullptr;
  const std::string name = absl::StrCat(bytes, "_bytes");
  steps.Code(absl::StrCat("add a copy of ", bytes, " pageable bytes"),
             api.GraphAddMemcpyNode(&node, graph.get(), nullptr, 0, &copy,
                                    gpu.context()),
             CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  PARTITA_ASSIGN_OR_RETURN(Gate gate, Gate::New(gpu));
  gate.Block(stream.get(), 0.3);
  std::fill(pageable.begin(), pageable.end(), 9);
  const double start = HostSeconds();
  api.GraphLaunch(exec.get(), stream.get());
  steps.Figure(name + "_launch_ms", (HostSeconds() - start) * 1e3);
  steps.Note(gate.ran_out() ? "the launch waited for the stream"
                            : "the launch returned before the stream's turn");
  std::fill(pageable.begin(), pageable.end(), 10);
  gate.Open();
  api.StreamSynchronize(stream.get());
  PARTITA_ASSIGN_OR_RETURN(const uint32_t first, gpu.ReadWord(device.get()));
  PARTITA_ASSIGN_OR_RETURN(const uint32_t last,
                           gpu.ReadWord(device.get() + bytes - 4));
  steps.Is("changed after the launch returned: first word read", first, 9u);
  steps.Is("last", last, 9u);
  return absl::OkStatus();
}

absl::StatusOr<Reading> CopyOfPageableMemory(Gpu& gpu) {
  Steps steps(gpu.api());
  for (const size_t bytes :
       {size_t{8}, size_t{65536}, size_t{1} << 20, size_t{1} << 24}) {
    PARTITA_RETURN_IF_ERROR(ChangeBehindLaunch(gpu, bytes, steps));
  }
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"graph.build_and_read_back",
     "A graph of kernel, memcpy, memset and empty nodes holds the edges that "
     "were given",
     "cuda.h:20104, 20175", "all nodes, all edges, right values",
     BuildAndReadBack},
    {"graph.no_edge_at_once", "Nodes without an edge may run at the same time",
     "CUDA guide, graphs", "two nodes run at once", NoEdgeRunsAtOnce},
    {"graph.edge_orders", "An edge orders two nodes", "cuda.h:1970",
     "the first ends before the second begins", EdgeOrders},
    {"graph.launched_twice",
     "Launches of one exec are ordered, in one stream and in two",
     "cuda.h:21050", "no overlap", LaunchedTwice},
    {"graph.destroy_running",
     "An exec that runs may be destroyed; its work is done", "cuda.h:21081",
     "returns; the work is done", DestroyRunning},
    {"graph.update_parameters",
     "Parameters are copied when a node is added or set; pending launches keep "
     "theirs",
     "cuda.h:20562", "1 + 1 + 20", UpdateParameters},
    {"graph.copy_of_pageable_memory",
     "A memcpy node reads pageable memory while its graph is launched, before "
     "the call returns",
     "none: cuda.h is silent", "9: what was there at the launch",
     CopyOfPageableMemory, Process::kOwn},
};

}  // namespace

FactGroup GraphFacts() { return {"graph", kFacts}; }

}  // namespace partita
