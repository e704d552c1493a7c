// Reads graphs back: nodes, edges, and what each node does.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {

// cuda.h:20104 ff.
CUresult Driver::GraphGetNodes(CUgraph handle, CUgraphNode* nodes,
                               size_t* count) {
  Graph* graph = nullptr;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindGraph(handle, graph); bad != CUDA_SUCCESS) return bad;
  const size_t all = graph->nodes.size();
  if (nodes == nullptr) {
    *count = all;
    return CUDA_SUCCESS;
  }
  for (size_t i = 0; i < *count; ++i) {
    nodes[i] = i < all ? nodes_.HandleOf(graph->nodes[i]) : nullptr;
  }
  *count = std::min(*count, all);
  return CUDA_SUCCESS;
}

// cuda.h:20175 ff.
CUresult Driver::GraphGetEdges(CUgraph handle, CUgraphNode* from,
                               CUgraphNode* to, CUgraphEdgeData* kinds,
                               size_t* count) {
  Graph* graph = nullptr;
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindGraph(handle, graph); bad != CUDA_SUCCESS) return bad;
  std::vector<std::pair<GraphNode*, GraphNode*>> edges;
  for (GraphNode* node : graph->nodes) {
    for (GraphNode* before : node->after) edges.emplace_back(before, node);
  }
  if (from == nullptr && to == nullptr) {
    *count = edges.size();
    return CUDA_SUCCESS;
  }
  if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < *count; ++i) {
    const bool has = i < edges.size();
    from[i] = has ? nodes_.HandleOf(edges[i].first) : nullptr;
    to[i] = has ? nodes_.HandleOf(edges[i].second) : nullptr;
    if (kinds != nullptr) kinds[i] = {};
  }
  *count = std::min(*count, edges.size());
  return CUDA_SUCCESS;
}

// graph_misuse.invalidated_read: as a graph.
CUresult Driver::FindNode(CUgraphNode handle, GraphNode*& node) {
  node = nodes_.Find(handle);
  if (node != nullptr) return CUDA_SUCCESS;
  BadHandle(nodes_, handle, "node");
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult Driver::GraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  GraphNode* node = nullptr;
  if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindNode(handle, node); bad != CUDA_SUCCESS) return bad;
  *type = node->type;
  return CUDA_SUCCESS;
}

// cuda.h:18738 ff.: the values belong to the node.
CUresult Driver::GraphKernelNodeGetParams(CUgraphNode handle,
                                          CUDA_KERNEL_NODE_PARAMS* params) {
  GraphNode* node = nullptr;
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindNode(handle, node); bad != CUDA_SUCCESS) return bad;
  if (node->type != CU_GRAPH_NODE_TYPE_KERNEL) return CUDA_ERROR_INVALID_VALUE;
  if (!node->kernel.has_value()) {
    return NotEmulated("cuGraphKernelNodeGetParams of a captured node");
  }
  auto& launch = std::get<KernelLaunch>(node->action);
  node->parameters.clear();
  for (uint64_t& value : launch.parameters) node->parameters.push_back(&value);
  *params = *node->kernel;
  params->kernelParams = node->parameters.data();
  params->extra = nullptr;
  return CUDA_SUCCESS;
}

// cuda.h:18849 ff.
CUresult Driver::GraphMemcpyNodeGetParams(CUgraphNode handle,
                                          CUDA_MEMCPY3D* params) {
  GraphNode* node = nullptr;
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindNode(handle, node); bad != CUDA_SUCCESS) return bad;
  if (node->type != CU_GRAPH_NODE_TYPE_MEMCPY) return CUDA_ERROR_INVALID_VALUE;
  if (!node->copy.has_value()) {
    return NotEmulated("cuGraphMemcpyNodeGetParams of a captured node");
  }
  *params = *node->copy;
  return CUDA_SUCCESS;
}

// cuda.h:19225 ff.
CUresult Driver::GraphEventRecordNodeGetEvent(CUgraphNode handle,
                                              CUevent* event) {
  GraphNode* node = nullptr;
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindNode(handle, node); bad != CUDA_SUCCESS) return bad;
  if (node->type != CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *event = events_.HandleOf(node->event);
  return CUDA_SUCCESS;
}

}  // namespace partita::emulated_gpu
