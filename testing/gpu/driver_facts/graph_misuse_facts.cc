// Graphs built against the rules, and captures that were invalidated.
// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <string>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {
namespace {

// Instantiates `graph`, and launches what came of it.
void TryGraph(const Gpu& gpu, CUgraph graph, Steps& steps) {
  CUgraphExec exec = nullptr;
  const CUresult result = gpu.api().GraphInstantiate(&exec, graph, 0);
  steps.Code("instantiate", result);
  if (result != CUDA_SUCCESS) return;
  absl::StatusOr<OwnedStream> stream = gpu.NewStream();
  if (!stream.ok()) return steps.Note(stream.status().message());
  steps.Code("launch", gpu.api().GraphLaunch(exec, stream->get()));
  steps.Code("synchronize", gpu.api().StreamSynchronize(stream->get()));
  gpu.api().GraphExecDestroy(exec);
}

// Two nodes with an edge, and one more edge between them.
absl::StatusOr<Reading> OneMoreEdge(Gpu& gpu, bool back) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  const NodeCall one = AddEmpty(gpu, graph.get(), {});
  const NodeCall two = AddEmpty(gpu, graph.get(), {one.node});
  const CUgraphNode from = back ? two.node : one.node;
  const CUgraphNode to = back ? one.node : two.node;
  const CUgraphEdgeData plain = {};
  Steps steps(api);
  steps.Code("add the edge",
             api.GraphAddDependencies(graph.get(), &from, &to, &plain, 1));
  TryGraph(gpu, graph.get(), steps);
  return steps.End();
}

absl::StatusOr<Reading> EdgeTwice(Gpu& gpu) { return OneMoreEdge(gpu, false); }
absl::StatusOr<Reading> Cycle(Gpu& gpu) { return OneMoreEdge(gpu, true); }

absl::StatusOr<Reading> ForeignDependency(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph other, NewGraph(gpu.api()));
  const NodeCall node = AddEmpty(gpu, graph.get(), {});
  Steps steps(gpu.api());
  steps.Code("add a node behind one of another graph",
             AddEmpty(gpu, other.get(), {node.node}).result);
  TryGraph(gpu, other.get(), steps);
  return steps.End();
}

absl::StatusOr<Reading> DoubleDependency(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  const NodeCall node = AddEmpty(gpu, graph.get(), {});
  Steps steps(gpu.api());
  steps.Code("add a node behind the same one twice",
             AddEmpty(gpu, graph.get(), {node.node, node.node}).result);
  TryGraph(gpu, graph.get(), steps);
  return steps.End();
}

absl::StatusOr<Reading> CopyOfNoBytes(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory memory, gpu.NewMemory(1024));
  Steps steps(gpu.api());
  steps.Code("add a copy of 0 bytes",
             AddCopy(gpu, graph.get(), {}, memory.get(), memory.get() + 512, 0,
                     gpu.context())
                 .result);
  TryGraph(gpu, graph.get(), steps);
  return steps.End();
}

absl::StatusOr<Reading> CopyOfNoMemory(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  Steps steps(gpu.api());
  steps.Code("add a copy between addresses that nobody has",
             AddCopy(gpu, graph.get(), {}, 256, 512, 64, gpu.context()).result);
  return steps.End();
}

absl::StatusOr<Reading> KernelOfNoBlocks(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  Steps steps(gpu.api());
  steps.Code("add a kernel of 0 blocks",
             AddKernel(gpu, graph.get(), {}, "empty", {0, 1}).result);
  TryGraph(gpu, graph.get(), steps);
  return steps.End();
}

absl::StatusOr<Reading> EmptyGraph(Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  Steps steps(gpu.api());
  TryGraph(gpu, graph.get(), steps);
  return steps.End();
}

// A capture into a graph that a synchronisation invalidates, then one call with
// the graph that it was to fill.
absl::StatusOr<Reading> InvalidatedCapture(
    const Gpu& gpu,
    const std::function<void(CUgraph, CUgraphNode, Steps&)>& use) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph owner, NewGraph(api));
  const CUgraph graph = owner.release();
  const NodeCall node = AddEmpty(gpu, graph, {});
  Steps steps(api);
  steps.Code(
      "begin",
      api.StreamBeginCaptureToGraph(stream.get(), graph, &node.node, nullptr, 1,
                                    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      CUDA_SUCCESS);
  steps.Code("launch inside", gpu.Launch(stream.get(), "empty", {}),
             CUDA_SUCCESS);
  steps.Code("synchronize inside", api.StreamSynchronize(stream.get()),
             CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CUgraph ended = nullptr;
  steps.Code("end", api.StreamEndCapture(stream.get(), &ended),
             CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  steps.Note(ended == nullptr ? "gives no graph"
             : ended == graph ? "gives the same graph"
                              : "gives another graph");
  use(graph, node.node, steps);
  return steps.End();
}

absl::StatusOr<Reading> InvalidatedEnd(Gpu& gpu) {
  return InvalidatedCapture(gpu, [](CUgraph, CUgraphNode, Steps&) {});
}
absl::StatusOr<Reading> InvalidatedRead(Gpu& gpu) {
  return InvalidatedCapture(gpu, [&](CUgraph graph, CUgraphNode, Steps& steps) {
    const absl::StatusOr<std::string> kinds = KindsOf(gpu, graph);
    steps.Note(kinds.ok() ? *kinds : std::string(kinds.status().message()));
  });
}
absl::StatusOr<Reading> InvalidatedAdd(Gpu& gpu) {
  return InvalidatedCapture(
      gpu, [&](CUgraph graph, CUgraphNode node, Steps& steps) {
        steps.Code("add a node", AddEmpty(gpu, graph, {node}).result);
      });
}
absl::StatusOr<Reading> InvalidatedInstantiate(Gpu& gpu) {
  return InvalidatedCapture(gpu, [&](CUgraph graph, CUgraphNode, Steps& steps) {
    TryGraph(gpu, graph, steps);
  });
}
absl::StatusOr<Reading> InvalidatedDestroy(Gpu& gpu) {
  return InvalidatedCapture(gpu, [&](CUgraph graph, CUgraphNode, Steps& steps) {
    steps.Code("destroy the graph", gpu.api().GraphDestroy(graph));
  });
}

constexpr char kUndefined[] = "figure: a code, or the driver crashes";

constexpr Fact kFacts[] = {
    {"graph_misuse.edge_twice", "An edge that is there already",
     "cuda.h:20260: an error", kUndefined, EdgeTwice, Process::kMayDie},
    {"graph_misuse.cycle", "An edge that makes a cycle",
     "cuda.h:2002: instantiation fails", kUndefined, Cycle, Process::kMayDie},
    {"graph_misuse.foreign_dependency", "A dependency of another graph",
     "cuda.h:20258: each node must belong to the graph", kUndefined,
     ForeignDependency, Process::kMayDie},
    {"graph_misuse.double_dependency", "One node twice as a dependency",
     "cuda.h:18646: no duplicates", kUndefined, DoubleDependency,
     Process::kMayDie},
    {"graph_misuse.copy_of_no_bytes", "A memcpy node of 0 bytes",
     "none: cuda.h is silent", kUndefined, CopyOfNoBytes, Process::kMayDie},
    {"graph_misuse.copy_of_no_memory",
     "A memcpy node between addresses that are nobody's",
     "none: cuda.h is silent", kUndefined, CopyOfNoMemory, Process::kMayDie},
    {"graph_misuse.kernel_of_no_blocks", "A kernel node of 0 blocks",
     "none: cuda.h is silent", kUndefined, KernelOfNoBlocks, Process::kMayDie},
    {"graph_misuse.empty_graph", "A graph without nodes, launched",
     "none: cuda.h is silent", kUndefined, EmptyGraph, Process::kMayDie},
    {"graph_misuse.invalidated_end",
     "A capture into a graph, invalidated: what its end gives",
     "none: cuda.h is silent", kUndefined, InvalidatedEnd, Process::kMayDie},
    {"graph_misuse.invalidated_read", "The same; the graph's nodes are read",
     "none: cuda.h is silent", kUndefined, InvalidatedRead, Process::kMayDie},
    {"graph_misuse.invalidated_add", "The same; a node is added",
     "none: cuda.h is silent", kUndefined, InvalidatedAdd, Process::kMayDie},
    {"graph_misuse.invalidated_instantiate",
     "The same; the graph is instantiated", "none: cuda.h is silent",
     kUndefined, InvalidatedInstantiate, Process::kMayDie},
    {"graph_misuse.invalidated_destroy", "The same; the graph is destroyed",
     "none: cuda.h is silent", kUndefined, InvalidatedDestroy,
     Process::kMayDie},
};

}  // namespace

FactGroup GraphMisuseFacts() { return {"graph_misuse", kFacts}; }

}  // namespace partita
