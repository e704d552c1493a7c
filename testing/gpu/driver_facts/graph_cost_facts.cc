// What graphs cost: instantiation, upload, launch, update, memory.
// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_timing.h"

namespace partita {
namespace {

// `count` empty kernels, each behind the last one, or behind none.
absl::StatusOr<OwnedGraph> BuildKernels(const Gpu& gpu, int count, bool chain,
                                        GraphNodes* nodes = nullptr) {
  return BuildLanes(gpu, chain ? 1 : count, chain ? count : 1, 0, nodes);
}

absl::StatusOr<Reading> GraphTimes(Gpu& gpu, bool chain) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  for (const int count : {1, 10, 100, 1000}) {
    PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, BuildKernels(gpu, count, chain));
    const std::string name = absl::StrCat("n", count);
    double start = HostSeconds();
    PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec,
                             Instantiate(api, graph.get()));
    steps.Figure(name + "_instantiate_us", (HostSeconds() - start) * 1e6);
    start = HostSeconds();
    steps.Code("upload", api.GraphUpload(exec.get(), stream.get()),
               CUDA_SUCCESS);
    api.StreamSynchronize(stream.get());
    steps.Figure(name + "_upload_us", (HostSeconds() - start) * 1e6);
    start = HostSeconds();
    api.GraphLaunch(exec.get(), stream.get());
    api.StreamSynchronize(stream.get());
    steps.Figure(name + "_first_done_us", (HostSeconds() - start) * 1e6);
    TimeLaunches(gpu, exec.get(), stream.get(), name, steps);
  }
  return steps.End();
}

absl::StatusOr<Reading> ChainTimes(Gpu& gpu) { return GraphTimes(gpu, true); }
absl::StatusOr<Reading> WideTimes(Gpu& gpu) { return GraphTimes(gpu, false); }

absl::StatusOr<Reading> StreamTimes(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  for (const int count : {1, 10, 100, 1000}) {
    std::vector<double> launches;
    std::vector<double> wholes;
    for (int i = 0; i < 30; ++i) {
      const double start = HostSeconds();
      for (int k = 0; k < count; ++k) gpu.Launch(stream.get(), "empty", {});
      const double launched = HostSeconds();
      api.StreamSynchronize(stream.get());
      wholes.push_back((HostSeconds() - start) * 1e6);
      launches.push_back((launched - start) * 1e6);
    }
    steps.Figure(absl::StrCat("n", count, "_launch_us"), Median(launches));
    steps.Figure(absl::StrCat("n", count, "_done_us"), Median(wholes));
  }
  return steps.End();
}

absl::StatusOr<Reading> UpdateTimes(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  Steps steps(api);
  GraphNodes nodes;
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph,
                           BuildKernels(gpu, 100, true, &nodes));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph other, BuildKernels(gpu, 100, true));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph less, BuildKernels(gpu, 99, true));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  void* parameters[] = {nullptr};
  const CUDA_KERNEL_NODE_PARAMS node =
      KernelNode(gpu, "empty", {2, 32}, parameters, gpu.context());
  steps.Figure("set_one_kernel_node_us", MedianMicroseconds(50, [&] {
                 api.GraphExecKernelNodeSetParams(exec.get(), nodes[50], &node);
               }));
  CUgraphExecUpdateResultInfo result = {};
  steps.Code("update with an equal graph",
             api.GraphExecUpdate(exec.get(), other.get(), &result),
             CUDA_SUCCESS);
  steps.Figure("update_100_nodes_us", MedianMicroseconds(20, [&] {
                 api.GraphExecUpdate(exec.get(), other.get(), &result);
               }));
  steps.Code("update with a graph of other nodes",
             api.GraphExecUpdate(exec.get(), less.get(), &result),
             CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  return steps.End();
}

absl::StatusOr<Reading> ExecMemory(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  Steps steps(api);
  for (const int count : {10, 1000}) {
    for (const bool chain : {true, false}) {
      PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph,
                               BuildKernels(gpu, count, chain));
      std::vector<OwnedGraphExec> execs;
      const int64_t before = gpu.FreeBytes();
      const int copies = count == 10 ? 100 : 20;
      for (int i = 0; i < copies; ++i) {
        PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec,
                                 Instantiate(api, graph.get()));
        execs.push_back(std::move(exec));
      }
      const int64_t made = gpu.FreeBytes();
      for (OwnedGraphExec& exec : execs) {
        api.GraphLaunch(exec.get(), stream.get());
      }
      api.StreamSynchronize(stream.get());
      const int64_t launched = gpu.FreeBytes();
      execs.clear();
      const std::string name =
          absl::StrCat("n", count, chain ? "_chain" : "_wide");
      steps.Figure(name + "_bytes_each",
                   static_cast<double>(before - made) / copies);
      steps.Figure(name + "_bytes_each_launched",
                   static_cast<double>(before - launched) / copies);
      steps.Figure(name + "_bytes_kept_after_destroy",
                   static_cast<double>(before - gpu.FreeBytes()));
    }
  }
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"graph_cost.chain", "Graphs of 1 to 1000 kernels in a chain", "none",
     "figure", ChainTimes},
    {"graph_cost.wide", "Graphs of 1 to 1000 kernels without edges", "none",
     "figure", WideTimes},
    {"graph_cost.stream", "The same kernels launched on a stream", "none",
     "figure", StreamTimes},
    {"graph_cost.update",
     "Updates of an exec; one with other nodes fails with its own code",
     "cuda.h:3134, 21125", "SUCCESS, then GRAPH_EXEC_UPDATE_FAILURE",
     UpdateTimes},
    {"graph_cost.memory", "Device memory of graph execs", "none", "figure",
     ExecMemory, Process::kOwn},
};

}  // namespace

FactGroup GraphCostFacts() { return {"graph_cost", kFacts}; }

}  // namespace partita
