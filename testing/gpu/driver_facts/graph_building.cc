// Node parameters, and the reading back of nodes and edges.
// SPDX-License-Identifier: Apache-2.0

#include "testing/gpu/driver_facts/graph_building.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"

namespace partita {
namespace {

const char* KindName(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "kernel";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "memcpy";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "memset";
    case CU_GRAPH_NODE_TYPE_HOST:
      return "host";
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return "empty";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return "wait event";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return "event record";
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return "child graph";
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return "mem alloc";
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return "mem free";
    default:
      return "other";
  }
}

}  // namespace

CUDA_KERNEL_NODE_PARAMS KernelNode(const Gpu& gpu, const std::string& kernel,
                                   LaunchShape shape, void** parameters,
                                   CUcontext context) {
  CUDA_KERNEL_NODE_PARAMS node = {};
  node.kern = gpu.kernel(kernel);
  node.gridDimX = shape.blocks;
  node.gridDimY = node.gridDimZ = 1;
  node.blockDimX = shape.threads;
  node.blockDimY = node.blockDimZ = 1;
  node.sharedMemBytes = shape.shared_bytes;
  node.kernelParams = parameters;
  node.ctx = context;
  return node;
}

NodeCall AddCopy(const Gpu& gpu, CUgraph graph, const GraphNodes& after,
                 CUdeviceptr to, CUdeviceptr from, size_t bytes,
                 CUcontext context) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  NodeCall call;
  call.result = gpu.api().GraphAddMemcpyNode(&call.node, graph, after.data(),
                                             after.size(), &copy, context);
  return call;
}

NodeCall AddFill(const Gpu& gpu, CUgraph graph, const GraphNodes& after,
                 CUdeviceptr to, uint32_t word, size_t words) {
  CUDA_MEMSET_NODE_PARAMS fill = {};
  fill.dst = to;
  fill.value = word;
  fill.elementSize = sizeof(uint32_t);
  fill.width = words;
  fill.height = 1;
  NodeCall call;
  call.result = gpu.api().GraphAddMemsetNode(
      &call.node, graph, after.data(), after.size(), &fill, gpu.context());
  return call;
}

NodeCall AddEmpty(const Gpu& gpu, CUgraph graph, const GraphNodes& after) {
  NodeCall call;
  call.result = gpu.api().GraphAddEmptyNode(&call.node, graph, after.data(),
                                            after.size());
  return call;
}

absl::StatusOr<GraphNodes> NodesOf(const Gpu& gpu, CUgraph graph) {
  size_t count = 0;
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      gpu.api().GraphGetNodes(graph, nullptr, &count), "cuGraphGetNodes"));
  GraphNodes nodes(count);
  if (count == 0) return nodes;
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      gpu.api().GraphGetNodes(graph, nodes.data(), &count), "cuGraphGetNodes"));
  return nodes;
}

absl::StatusOr<std::vector<std::pair<CUgraphNode, CUgraphNode>>> EdgesOf(
    const Gpu& gpu, CUgraph graph) {
  size_t count = 0;
  PARTITA_RETURN_IF_ERROR(gpu.Status(
      gpu.api().GraphGetEdges(graph, nullptr, nullptr, nullptr, &count),
      "cuGraphGetEdges"));
  GraphNodes from(count);
  GraphNodes to(count);
  std::vector<CUgraphEdgeData> kinds(count);
  if (count > 0) {
    PARTITA_RETURN_IF_ERROR(
        gpu.Status(gpu.api().GraphGetEdges(graph, from.data(), to.data(),
                                           kinds.data(), &count),
                   "cuGraphGetEdges"));
  }
  std::vector<std::pair<CUgraphNode, CUgraphNode>> edges;
  for (size_t i = 0; i < count; ++i) edges.emplace_back(from[i], to[i]);
  return edges;
}

absl::StatusOr<std::string> KindsOf(const Gpu& gpu, CUgraph graph) {
  PARTITA_ASSIGN_OR_RETURN(const GraphNodes nodes, NodesOf(gpu, graph));
  std::map<std::string, int> counts;
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    PARTITA_RETURN_IF_ERROR(gpu.Status(gpu.api().GraphNodeGetType(node, &type),
                                       "cuGraphNodeGetType"));
    ++counts[KindName(type)];
  }
  std::string text;
  for (const auto& [kind, count] : counts) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", kind, " ", count);
  }
  return text.empty() ? "no nodes" : text;
}

}  // namespace partita
