// Graphs, node by node.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {

CUresult Driver::FindGraph(CUgraph handle, Graph*& graph) {
  graph = graphs_.Find(handle);
  if (graph != nullptr) return CUDA_SUCCESS;
  BadHandle(graphs_, handle, "graph");
  return CUDA_ERROR_INVALID_VALUE;  // graph_misuse.invalidated_read
}

// graph_misuse.foreign_dependency, double_dependency.
CUresult Driver::FindNodes(const Graph* graph, const CUgraphNode* handles,
                           size_t count, std::vector<GraphNode*>& nodes) {
  for (size_t i = 0; i < count; ++i) {
    GraphNode* node = nodes_.Find(handles[i]);
    if (node == nullptr) BadHandle(nodes_, handles[i], "node");
    if (node == nullptr || node->graph != graph ||
        absl::c_linear_search(nodes, node)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    nodes.push_back(node);
  }
  return CUDA_SUCCESS;
}

GraphNode* Driver::AddNode(Graph& graph, CUgraphNodeType type, Context* context,
                           Action action, std::vector<GraphNode*> after) {
  auto node = std::make_unique<GraphNode>();
  node->type = type;
  node->graph = &graph;
  node->context = context;
  node->action = std::move(action);
  node->after = std::move(after);
  GraphNode* added = nodes_.Add(std::move(node));
  graph.nodes.push_back(added);
  return added;
}

CUresult Driver::BeginNode(CUgraph handle, const CUgraphNode* dependencies,
                           size_t count, NewNode& node) {
  if (CUresult bad = FindGraph(handle, node.graph); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (count > 0 && dependencies == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return FindNodes(node.graph, dependencies, count, node.after);
}

CUresult Driver::BeginNode(CUgraph handle, const CUgraphNode* dependencies,
                           size_t count, CUcontext context, NewNode& node) {
  if (CUresult bad = BeginNode(handle, dependencies, count, node);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  return NodeContext(context, node.context);
}

GraphNode* Driver::EndNode(NewNode node, CUgraphNodeType type, Action action,
                           CUgraphNode* handle) {
  GraphNode* added = AddNode(*node.graph, type, node.context, std::move(action),
                             std::move(node.after));
  *handle = nodes_.HandleOf(added);
  return added;
}

// cuda.h:1788, 2004: a node names its context; null is the current one.
CUresult Driver::NodeContext(CUcontext handle, Context*& context) {
  if (handle == nullptr) return FindContext(context);
  context = contexts_.Find(handle);
  if (context == nullptr || !context->alive) return CUDA_ERROR_INVALID_CONTEXT;
  return context->device->sticky;
}

CUresult Driver::GraphCreate(CUgraph* handle, unsigned flags) {
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  auto graph = std::make_unique<Graph>();
  graph->name = absl::StrCat("graph ", ++graphs_made_);
  *handle = graphs_.HandleOf(graphs_.Add(std::move(graph)));
  return CUDA_SUCCESS;
}

void Driver::EndGraph(Graph& graph) {
  for (GraphNode* node : graph.nodes) {
    if (node->child != nullptr) EndGraph(*node->child);
    nodes_.End(node);
  }
  graphs_.End(&graph);
}

CUresult Driver::GraphDestroy(CUgraph handle) {
  Graph* graph = nullptr;
  if (CUresult bad = FindGraph(handle, graph); bad != CUDA_SUCCESS) return bad;
  if (graph->is_child) return CUDA_ERROR_INVALID_VALUE;
  if (graph->capture != nullptr) {
    Invalidate(*graph->capture, "cuGraphDestroy of the graph that it fills");
    return CUDA_ERROR_INVALID_VALUE;
  }
  EndGraph(*graph);
  return CUDA_SUCCESS;
}

CUresult Driver::KernelNode(const CUDA_KERNEL_NODE_PARAMS& params,
                            Context*& context, KernelLaunch& launch) {
  Kernel* kernel = nullptr;
  Context* of_function = nullptr;
  const CUfunction handle = params.kern != nullptr
                                ? reinterpret_cast<CUfunction>(params.kern)
                                : params.func;
  if (CUresult bad = FindKernel(handle, kernel, of_function);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (of_function != nullptr) {
    context = of_function;
  } else if (CUresult bad = NodeContext(params.ctx, context);
             bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = Load(*kernel, *context); bad != CUDA_SUCCESS) return bad;
  return MakeLaunch(
      *kernel,
      {.grid = {params.gridDimX, params.gridDimY, params.gridDimZ},
       .block = {params.blockDimX, params.blockDimY, params.blockDimZ},
       .shared_bytes = params.sharedMemBytes,
       .parameters = params.kernelParams,
       .extra = params.extra},
      launch);
}

CUresult Driver::GraphAddKernelNode(CUgraphNode* handle, CUgraph graph_handle,
                                    const CUgraphNode* dependencies,
                                    size_t count,
                                    const CUDA_KERNEL_NODE_PARAMS* params) {
  NewNode node;
  KernelLaunch launch;
  if (handle == nullptr || params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = BeginNode(graph_handle, dependencies, count, node);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = KernelNode(*params, node.context, launch);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  EndNode(std::move(node), CU_GRAPH_NODE_TYPE_KERNEL, std::move(launch), handle)
      ->kernel = *params;
  return CUDA_SUCCESS;
}

namespace {

struct End {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  size_t offset;
  uint64_t address() const {
    return offset + (type == CU_MEMORYTYPE_HOST
                         ? reinterpret_cast<uint64_t>(host)
                         : device);
  }
};

}  // namespace

// No source says that a node stages a copy between devices without access to
// each other's memory, as a call in a stream does (cuda.h:18807 refers
// to cuMemcpy3D, beside which there is a cuMemcpy3DPeer, cuda.h:10431).
void Driver::CheckPeers(const char* call, const Context& context,
                        const Copy& copy) {
  for (const uint64_t address : {copy.to, copy.from}) {
    const Allocation* block = memory_.Find(address);
    if (block == nullptr || block->is_host() ||
        block->context->device == context.device ||
        context.peers.contains(block->context)) {
      continue;
    }
    Report(FindingKind::kForeignMemory,
           absl::StrCat(call, ": found ", memory_.Describe(address), ", which ",
                        context.name,
                        " has no access to; expected a copy by way of the "
                        "host"));
  }
}

CUresult Driver::GraphAddMemcpyNode(CUgraphNode* handle, CUgraph graph_handle,
                                    const CUgraphNode* dependencies,
                                    size_t count, const CUDA_MEMCPY3D* params,
                                    CUcontext context_handle) {
  constexpr char kCall[] = "cuGraphAddMemcpyNode";
  NewNode node;
  if (handle == nullptr || params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad =
          BeginNode(graph_handle, dependencies, count, context_handle, node);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  // graph_misuse.copy_of_no_bytes.
  if (params->WidthInBytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const End from = {params->srcMemoryType, params->srcHost, params->srcDevice,
                    params->srcXInBytes};
  const End to = {params->dstMemoryType, params->dstHost, params->dstDevice,
                  params->dstXInBytes};
  if (params->Height != 1 || params->Depth != 1 ||
      from.type == CU_MEMORYTYPE_ARRAY || to.type == CU_MEMORYTYPE_ARRAY) {
    return NotEmulated("cuGraphAddMemcpyNode of more than one row");
  }
  const auto is_pageable = [&](const End& end) {
    return end.type != CU_MEMORYTYPE_DEVICE &&
           memory_.Find(end.address()) == nullptr &&
           !memory_.IsOfDevices(end.address());
  };
  for (const End* end : {&from, &to}) {
    if (end->type != CU_MEMORYTYPE_HOST ||
        !memory_.IsOfDevices(end->address())) {
      continue;
    }
    Report(FindingKind::kHostDereference,
           absl::StrCat(kCall, ": found ", memory_.Describe(end->address()),
                        "; expected memory of the host"));
    return CUDA_ERROR_INVALID_VALUE;
  }
  Copy copy{.to = to.address(),
            .from = from.address(),
            .bytes = params->WidthInBytes,
            .to_pageable = is_pageable(to),
            .from_pageable = is_pageable(from)};
  CheckPeers(kCall, *node.context, copy);
  EndNode(std::move(node), CU_GRAPH_NODE_TYPE_MEMCPY, std::move(copy), handle)
      ->copy = *params;
  return CUDA_SUCCESS;
}

// cuda.h:19185 ff.
CUresult Driver::GraphAddEventRecordNode(CUgraphNode* handle,
                                         CUgraph graph_handle,
                                         const CUgraphNode* dependencies,
                                         size_t count, CUevent event_handle) {
  NewNode node;
  Event* event = nullptr;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = BeginNode(graph_handle, dependencies, count, node);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = FindEvent(event_handle, event); bad != CUDA_SUCCESS) {
    return bad;
  }
  node.context = event->context;
  EndNode(std::move(node), CU_GRAPH_NODE_TYPE_EVENT_RECORD,
          Marker{"record node"}, handle)
      ->event = event;
  return CUDA_SUCCESS;
}

CUresult Driver::GraphAddMemsetNode(CUgraphNode* handle, CUgraph graph_handle,
                                    const CUgraphNode* dependencies,
                                    size_t count,
                                    const CUDA_MEMSET_NODE_PARAMS* params,
                                    CUcontext context_handle) {
  NewNode node;
  if (handle == nullptr || params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad =
          BeginNode(graph_handle, dependencies, count, context_handle, node);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  const unsigned element = params->elementSize;
  if ((element != 1 && element != 2 && element != 4) || params->width == 0 ||
      params->height == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Fill fill{.to = params->dst,
                  .value = params->value,
                  .element_bytes = element,
                  .width = params->width,
                  .height = params->height,
                  .pitch = params->pitch};
  if (CUresult bad = CheckFill("cuGraphAddMemsetNode", fill);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  EndNode(std::move(node), CU_GRAPH_NODE_TYPE_MEMSET, fill, handle);
  return CUDA_SUCCESS;
}

CUresult Driver::GraphAddEmptyNode(CUgraphNode* handle, CUgraph graph_handle,
                                   const CUgraphNode* dependencies,
                                   size_t count) {
  NewNode node;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = BeginNode(graph_handle, dependencies, count, node);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  EndNode(std::move(node), CU_GRAPH_NODE_TYPE_EMPTY, Marker{"empty node"},
          handle);
  return CUDA_SUCCESS;
}

CUresult Driver::GraphAddHostNode(CUgraphNode* handle, CUgraph graph_handle,
                                  const CUgraphNode* dependencies, size_t count,
                                  const CUDA_HOST_NODE_PARAMS* params) {
  NewNode node;
  if (handle == nullptr || params == nullptr || params->fn == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (CUresult bad = BeginNode(graph_handle, dependencies, count, node);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  EndNode(std::move(node), CU_GRAPH_NODE_TYPE_HOST,
          HostCall{params->fn, params->userData}, handle);
  return CUDA_SUCCESS;
}

Graph* Driver::CloneGraph(const Graph& graph) {
  auto made = std::make_unique<Graph>();
  made->name = absl::StrCat("graph ", ++graphs_made_);
  made->is_child = true;
  Graph* clone = graphs_.Add(std::move(made));
  std::map<const GraphNode*, GraphNode*> clones;
  for (const GraphNode* node : graph.nodes) {
    clones[node] = AddNode(*clone, node->type, node->context, node->action, {});
    clones[node]->event = node->event;
    if (node->child != nullptr) {
      clones[node]->child = CloneGraph(*node->child);
    }
  }
  for (const GraphNode* node : graph.nodes) {
    for (const GraphNode* before : node->after) {
      clones[node]->after.push_back(clones[before]);
    }
  }
  return clone;
}

CUresult Driver::GraphAddChildGraphNode(CUgraphNode* handle,
                                        CUgraph graph_handle,
                                        const CUgraphNode* dependencies,
                                        size_t count, CUgraph child_handle) {
  NewNode node;
  Graph* child = nullptr;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = BeginNode(graph_handle, dependencies, count, node);
      bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = FindGraph(child_handle, child); bad != CUDA_SUCCESS) {
    return bad;
  }
  GraphNode* added = EndNode(std::move(node), CU_GRAPH_NODE_TYPE_GRAPH,
                             Marker{"child graph"}, handle);
  added->child = CloneGraph(*child);
  return CUDA_SUCCESS;
}

// graph_misuse.edge_twice, cycle: a cycle is found by the instantiation.
CUresult Driver::GraphAddDependencies(CUgraph handle, const CUgraphNode* from,
                                      const CUgraphNode* to,
                                      const CUgraphEdgeData* kinds,
                                      size_t count) {
  Graph* graph = nullptr;
  if (CUresult bad = FindGraph(handle, graph); bad != CUDA_SUCCESS) return bad;
  for (size_t i = 0; i < count; ++i) {
    std::vector<GraphNode*> before;
    std::vector<GraphNode*> after;
    if (FindNodes(graph, from + i, 1, before) != CUDA_SUCCESS ||
        FindNodes(graph, to + i, 1, after) != CUDA_SUCCESS || before == after ||
        absl::c_linear_search(after[0]->after, before[0])) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (kinds != nullptr && (kinds[i].type != 0 || kinds[i].from_port != 0)) {
      return NotEmulated("cuGraphAddDependencies of other kinds");
    }
    after[0]->after.push_back(before[0]);
  }
  return CUDA_SUCCESS;
}

}  // namespace partita::emulated_gpu
