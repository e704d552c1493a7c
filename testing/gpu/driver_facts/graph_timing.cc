// Builds lanes of kernels and times their launches.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/graph_timing.h"

#include <vector>

#include "graph/status_macros.h"

namespace partita {

absl::StatusOr<OwnedGraph> BuildLanes(const Gpu& gpu, int lanes, int length,
                                      int crossing, GraphNodes* nodes) {
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  GraphNodes last(lanes);
  for (int i = 0; i < length; ++i) {
    for (int lane = 0; lane < lanes; ++lane) {
      GraphNodes after;
      if (i > 0) after.push_back(last[lane]);
      if (i > 0 && lane > 0 && crossing > 0 && i % crossing == 0) {
        after.push_back(last[lane - 1]);
      }
      const NodeCall call = AddKernel(gpu, graph.get(), after, "empty", {});
      PARTITA_RETURN_IF_ERROR(gpu.Status(call.result, "cuGraphAddKernelNode"));
      last[lane] = call.node;
      if (nodes != nullptr) nodes->push_back(call.node);
    }
  }
  return graph;
}

void TimeLaunches(const Gpu& gpu, CUgraphExec exec, CUstream stream,
                  const std::string& name, Steps& steps) {
  const DriverApi& api = gpu.api();
  std::vector<double> launches;
  std::vector<double> wholes;
  for (int i = 0; i < 30; ++i) {
    const double start = HostSeconds();
    api.GraphLaunch(exec, stream);
    const double launched = HostSeconds();
    api.StreamSynchronize(stream);
    wholes.push_back((HostSeconds() - start) * 1e6);
    launches.push_back((launched - start) * 1e6);
  }
  steps.Figure(name + "_launch_us", Median(launches));
  steps.Figure(name + "_done_us", Median(wholes));
}

}  // namespace partita
