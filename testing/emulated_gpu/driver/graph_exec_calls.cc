// Graphs that can be launched.
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "testing/emulated_gpu/driver/driver.h"

namespace partita::emulated_gpu {
namespace {

// Nodes in an order in which each comes behind those that it follows; fewer
// than all if there is a cycle.
std::vector<const GraphNode*> InOrder(const Graph& graph) {
  std::map<const GraphNode*, std::vector<const GraphNode*>> successors;
  std::map<const GraphNode*, size_t> open;
  std::vector<const GraphNode*> order;
  for (const GraphNode* node : graph.nodes) {
    open[node] = node->after.size();
    if (node->after.empty()) order.push_back(node);
    for (const GraphNode* before : node->after) {
      successors[before].push_back(node);
    }
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const GraphNode* next : successors[order[i]]) {
      if (--open[next] == 0) order.push_back(next);
    }
  }
  return order;
}

// The nodes that no other follows.
std::vector<size_t> Leaves(const std::vector<ExecNode>& nodes, size_t from) {
  std::set<size_t> leaves;
  for (size_t i = from; i < nodes.size(); ++i) {
    leaves.insert(i);
    for (size_t before : nodes[i].after) leaves.erase(before);
  }
  return {leaves.begin(), leaves.end()};
}

ExecNode Empty(std::vector<size_t> after) {
  return {.action = Marker{"graph node"}, .after = std::move(after)};
}

}  // namespace

CUresult Driver::Flatten(const Graph& graph, std::vector<ExecNode>& nodes) {
  const std::vector<const GraphNode*> order = InOrder(graph);
  if (order.size() < graph.nodes.size()) return CUDA_ERROR_INVALID_VALUE;
  std::map<const GraphNode*, size_t> places;
  for (const GraphNode* node : order) {
    std::vector<size_t> after;
    for (const GraphNode* before : node->after) after.push_back(places[before]);
    if (node->child == nullptr) {
      nodes.push_back({.source = node,
                       .type = node->type,
                       .context = node->context,
                       .action = node->action,
                       .event = node->event,
                       .after = std::move(after)});
    } else {
      // An empty node in front of the child, and one behind it.
      const size_t front = nodes.size();
      nodes.push_back(Empty(std::move(after)));
      if (CUresult bad = Flatten(*node->child, nodes); bad != CUDA_SUCCESS) {
        return bad;
      }
      for (size_t i = front + 1; i < nodes.size(); ++i) {
        if (nodes[i].after.empty()) nodes[i].after.push_back(front);
      }
      nodes.push_back(Empty(Leaves(nodes, front)));
    }
    places[node] = nodes.size() - 1;
  }
  return CUDA_SUCCESS;
}

// Nodes that follow each other share a chain; clocks stay short.
void Driver::AssignChains(const std::string& name,
                          std::vector<ExecNode>& nodes) {
  std::vector<bool> continued(nodes.size(), false);
  int lanes = 0;
  for (ExecNode& node : nodes) {
    bool found = false;
    for (size_t before : node.after) {
      if (found || continued[before]) continue;
      node.chain = nodes[before].chain;
      continued[before] = found = true;
    }
    if (!found) {
      node.chain =
          timeline_.AddChain(absl::StrCat("lane ", ++lanes, " of ", name));
    }
  }
}

CUresult Driver::FindExec(CUgraphExec handle, GraphExec*& exec) {
  exec = execs_.Find(handle);
  if (exec != nullptr) return CUDA_SUCCESS;
  BadHandle(execs_, handle, "graph exec");
  return CUDA_ERROR_INVALID_VALUE;  // misuse.launch_destroyed_exec
}

CUresult Driver::GraphInstantiate(CUgraphExec* handle, CUgraph graph_handle,
                                  unsigned long long flags) {
  Context* context = nullptr;
  Graph* graph = nullptr;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindContext(context); bad != CUDA_SUCCESS) return bad;
  if (CUresult bad = CheckUnsafe("cuGraphInstantiate"); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = FindGraph(graph_handle, graph); bad != CUDA_SUCCESS) {
    return bad;
  }
  if ((flags & ~uint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY}) != 0) {
    return NotEmulated("cuGraphInstantiate with flags");
  }
  auto exec = std::make_unique<GraphExec>();
  exec->name = absl::StrCat("exec ", ++execs_made_, " of ", graph->name);
  exec->context = context;
  if (CUresult bad = Flatten(*graph, exec->nodes); bad != CUDA_SUCCESS) {
    return bad;
  }
  AssignChains(exec->name, exec->nodes);
  *handle = execs_.HandleOf(execs_.Add(std::move(exec)));
  return CUDA_SUCCESS;
}

// graph.destroy_running: what runs goes on.
CUresult Driver::GraphExecDestroy(CUgraphExec handle) {
  GraphExec* exec = nullptr;
  if (CUresult bad = FindExec(handle, exec); bad != CUDA_SUCCESS) return bad;
  exec->nodes.clear();
  execs_.End(exec);
  return CUDA_SUCCESS;
}

CUresult Driver::GraphUpload(CUgraphExec handle, CUstream stream_handle) {
  Stream* stream = nullptr;
  GraphExec* exec = nullptr;
  if (CUresult bad = FindStream(stream_handle, stream); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = FindExec(handle, exec); bad != CUDA_SUCCESS) return bad;
  if (stream->capture != nullptr) {
    Invalidate(*stream->capture, "cuGraphUpload");
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return Submit(*stream, Marker{"upload"}, CU_GRAPH_NODE_TYPE_EMPTY);
}

// cuda.h:21050: behind the stream's work, and behind the exec's own launches.
CUresult Driver::GraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  Stream* stream = nullptr;
  GraphExec* exec = nullptr;
  if (CUresult bad = FindStream(stream_handle, stream); bad != CUDA_SUCCESS) {
    return bad;
  }
  if (CUresult bad = FindExec(handle, exec); bad != CUDA_SUCCESS) return bad;
  // capture_copy.graph_launch.
  if (stream->capture != nullptr) {
    Invalidate(*stream->capture, "cuGraphLaunch");
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (CUresult bad = CheckCapture(*stream); bad != CUDA_SUCCESS) return bad;
  for (const ExecNode& node : exec->nodes) {
    if (node.context != nullptr && !node.context->alive) {
      Report(FindingKind::kMisuse,
             absl::StrCat("cuGraphLaunch: found a node of ", node.context->name,
                          ", which has ended"));
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (node.event != nullptr &&
        events_.Find(events_.HandleOf(node.event)) == nullptr) {
      Report(FindingKind::kMisuse,
             absl::StrCat("cuGraphLaunch: found a node that records ",
                          node.event->name, ", which was destroyed"));
      return CUDA_ERROR_INVALID_VALUE;
    }
    // The same in a stream kills a process (launch_unloaded_kernel).
    const auto* const launch = std::get_if<KernelLaunch>(&node.action);
    if (launch != nullptr && *launch->code->is_unloaded) {
      Report(FindingKind::kMisuse,
             absl::StrCat("cuGraphLaunch: found kernel ", launch->code->name(),
                          ", whose library was unloaded"));
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  std::vector<CommandRef> before;
  if (exec->last_launch != nullptr) before.push_back(exec->last_launch);
  const CommandRef start =
      Issue(*stream, Marker{"graph start"}, before, exec->last_clock);
  std::vector<CommandRef> commands;
  VectorClock all = start->clock;
  for (const ExecNode& node : exec->nodes) {
    std::vector<CommandRef> after;
    for (size_t i : node.after) after.push_back(commands[i]);
    if (after.empty()) after.push_back(start);
    VectorClock clock;
    for (const CommandRef& earlier : after) clock.Join(earlier->clock);
    Action action = node.action;
    // graph.copy_of_pageable_memory: read while the graph is launched.
    if (Copy* copy = std::get_if<Copy>(&action)) KeepSource(*copy);
    Context* context = node.context != nullptr ? node.context : stream->context;
    commands.push_back(IssueIn(node.chain, context, std::move(action), after,
                               std::move(clock), /*behind_wait=*/false));
    // cuda.h:19191: each launch records it.
    if (node.event != nullptr) {
      node.event->captured = false;
      node.event->capture = nullptr;
      node.event->record = commands.back();
    }
    all.Join(commands.back()->clock);
  }
  exec->last_launch = Issue(*stream, Marker{"graph end"}, commands, all);
  exec->last_clock = exec->last_launch->clock;
  return MayWait(exec->last_launch);
}

// cuda.h:21125 ff.
CUresult Driver::GraphExecUpdate(CUgraphExec handle, CUgraph graph_handle,
                                 CUgraphExecUpdateResultInfo* result) {
  GraphExec* exec = nullptr;
  Graph* graph = nullptr;
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindExec(handle, exec); bad != CUDA_SUCCESS) return bad;
  if (CUresult bad = FindGraph(graph_handle, graph); bad != CUDA_SUCCESS) {
    return bad;
  }
  std::vector<ExecNode> nodes;
  *result = {};
  result->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  if (Flatten(*graph, nodes) != CUDA_SUCCESS ||
      nodes.size() != exec->nodes.size()) {
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].type != exec->nodes[i].type) {
      result->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    if (nodes[i].after != exec->nodes[i].after) {
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    if (nodes[i].context != exec->nodes[i].context) {
      result->result = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    nodes[i].chain = exec->nodes[i].chain;
    // The exec's nodes go on being named by those of its first graph.
    nodes[i].source = exec->nodes[i].source;
  }
  exec->nodes = std::move(nodes);
  result->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  return CUDA_SUCCESS;
}

// cuda.h:20562: pending launches keep their parameters.
CUresult Driver::GraphExecKernelNodeSetParams(
    CUgraphExec handle, CUgraphNode node_handle,
    const CUDA_KERNEL_NODE_PARAMS* params) {
  GraphExec* exec = nullptr;
  if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult bad = FindExec(handle, exec); bad != CUDA_SUCCESS) return bad;
  const GraphNode* node = nodes_.Find(node_handle);
  for (ExecNode& candidate : exec->nodes) {
    if (node == nullptr || candidate.source != node) continue;
    Context* context = nullptr;
    KernelLaunch launch;
    if (candidate.type != CU_GRAPH_NODE_TYPE_KERNEL) break;
    if (CUresult bad = KernelNode(*params, context, launch);
        bad != CUDA_SUCCESS) {
      return bad;
    }
    if (context != candidate.context) break;
    candidate.action = std::move(launch);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace partita::emulated_gpu
