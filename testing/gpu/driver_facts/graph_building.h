// Builds and reads the driver's graphs.
// SPDX-License-Identifier: Apache-2.0

#ifndef PARTITA_TESTING_GPU_DRIVER_FACTS_GRAPH_BUILDING_H_
#define PARTITA_TESTING_GPU_DRIVER_FACTS_GRAPH_BUILDING_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/gpu/driver_facts/gpu.h"

namespace partita {

using GraphNodes = std::vector<CUgraphNode>;

struct NodeCall {
  CUresult result = CUDA_SUCCESS;
  CUgraphNode node = nullptr;
};

CUDA_KERNEL_NODE_PARAMS KernelNode(const Gpu& gpu, const std::string& kernel,
                                   LaunchShape shape, void** parameters,
                                   CUcontext context);

template <typename... Args>
NodeCall AddKernel(const Gpu& gpu, CUgraph graph, const GraphNodes& after,
                   const std::string& kernel, LaunchShape shape, Args... args) {
  void* parameters[] = {&args..., nullptr};
  const CUDA_KERNEL_NODE_PARAMS node =
      KernelNode(gpu, kernel, shape, parameters, gpu.context());
  NodeCall call;
  call.result = gpu.api().GraphAddKernelNode(&call.node, graph, after.data(),
                                             after.size(), &node);
  return call;
}

// Bytes between device addresses, or page-locked host addresses (UVA).
NodeCall AddCopy(const Gpu& gpu, CUgraph graph, const GraphNodes& after,
                 CUdeviceptr to, CUdeviceptr from, size_t bytes,
                 CUcontext context);
NodeCall AddFill(const Gpu& gpu, CUgraph graph, const GraphNodes& after,
                 CUdeviceptr to, uint32_t word, size_t words);
NodeCall AddEmpty(const Gpu& gpu, CUgraph graph, const GraphNodes& after);

absl::StatusOr<GraphNodes> NodesOf(const Gpu& gpu, CUgraph graph);
absl::StatusOr<std::vector<std::pair<CUgraphNode, CUgraphNode>>> EdgesOf(
    const Gpu& gpu, CUgraph graph);
// E.g. "kernel 2, memcpy 1".
absl::StatusOr<std::string> KindsOf(const Gpu& gpu, CUgraph graph);

}  // namespace partita

#endif  // PARTITA_TESTING_GPU_DRIVER_FACTS_GRAPH_BUILDING_H_
