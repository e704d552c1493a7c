// Compares nodes with commands, and closures of two orders.
// SPDX-License-Identifier: Apache-2.0

#include "tests/gpu/graph_proof.h"

#include <map>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "runtime/device/cuda/cuda_graph.h"
#include "runtime/device/runs.h"

namespace partita {
namespace {

using Kind = Action::Kind;
// From an element to those behind it.
using Edges = std::vector<std::vector<int>>;
// [a][b]: b comes behind a.
using Closure = std::vector<std::vector<bool>>;

Closure ClosureOf(const Edges& edges) {
  Closure behind(edges.size(), std::vector<bool>(edges.size()));
  for (size_t first = 0; first < edges.size(); ++first) {
    std::vector<int> open = edges[first];
    while (!open.empty()) {
      const int next = open.back();
      open.pop_back();
      if (behind[first][next]) continue;
      behind[first][next] = true;
      open.insert(open.end(), edges[next].begin(), edges[next].end());
    }
  }
  return behind;
}

// Bytes that a memcpy node copies.
struct CopyOfRun {
  friend bool operator==(const CopyOfRun&, const CopyOfRun&) = default;
  CUdeviceptr to = 0;
  CUdeviceptr from = 0;
  size_t bytes = 0;
};

std::vector<CopyOfRun> RunsOf(const Blocks& to, const Blocks& from) {
  std::vector<CopyOfRun> runs;
  ForEachRun(to, from,
             [&](std::byte* to_run, const std::byte* from_run, int64_t bytes) {
               runs.push_back({reinterpret_cast<CUdeviceptr>(to_run),
                               reinterpret_cast<CUdeviceptr>(from_run),
                               static_cast<size_t>(bytes)});
               return true;
             });
  return runs;
}

class Proof {
 public:
  Proof(const EntryContext& context, const DriverApi& api, const GraphRun& run,
        int slot)
      : context_(context),
        api_(api),
        actions_(run.actions()),
        nodes_before_(run.graph(slot).nodes_before),
        graph_(static_cast<const CudaGraph&>(*run.graph(slot).graph)),
        slot_(slot) {}

  absl::Status Run() {
    PARTITA_RETURN_IF_ERROR(ReadNodes());
    for (size_t i = 0; i < actions_.size(); ++i) {
      PARTITA_RETURN_IF_ERROR(CheckContents(i));
    }
    return CheckOrder();
  }

 private:
  absl::Status Check(CUresult result, const char* call) const {
    return CudaStatus(api_, result, call);
  }

  std::string Name(size_t i) const {
    return absl::StrCat("command ", actions_[i].action().command.index);
  }
  absl::Status Fault(size_t i, absl::string_view text) const {
    return absl::FailedPreconditionError(
        absl::StrCat("graph: ", Name(i), ": ", text));
  }

  absl::Status ReadNodes() {
    size_t count = 0;
    PARTITA_RETURN_IF_ERROR(Check(
        api_.GraphGetNodes(graph_.get(), nullptr, &count), "cuGraphGetNodes"));
    std::vector<CUgraphNode> nodes(count);
    if (count > 0) {
      PARTITA_RETURN_IF_ERROR(
          Check(api_.GraphGetNodes(graph_.get(), nodes.data(), &count),
                "cuGraphGetNodes"));
    }
    for (int i = 0; i < graph_.num_nodes(); ++i) {
      index_[graph_.node(DeviceNodeId(i))] = i;
    }
    for (const CUgraphNode node : nodes) {
      if (!index_.contains(node)) {
        return absl::FailedPreconditionError(
            "graph: found a node that no command added");
      }
    }
    if (nodes.size() == index_.size() &&
        static_cast<int>(nodes.size()) == nodes_before_.back()) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError(
        absl::StrCat("graph: found ", nodes.size(), " nodes; expected the ",
                     nodes_before_.back(), " of the commands"));
  }

  std::vector<CUgraphNode> NodesOf(size_t i) const {
    std::vector<CUgraphNode> nodes;
    for (int n = nodes_before_[i]; n < nodes_before_[i + 1]; ++n) {
      nodes.push_back(graph_.node(DeviceNodeId(n)));
    }
    return nodes;
  }

  absl::Status CheckContents(size_t i) const {
    const FedAction& fed = actions_[i];
    const StreamProgram& program = fed.stream->program(slot_);
    const Action& action = program.actions[fed.index];
    const std::vector<CUgraphNode> nodes = NodesOf(i);
    switch (action.kind) {
      case Kind::kKernel:
        return CheckKernel(i, action, nodes);
      case Kind::kCopy:
      case Kind::kFeed:
      case Kind::kFetch:
        return CheckCopy(i, DeviceTransferOf(program, action), nodes);
      default:
        if (nodes.empty()) return absl::OkStatus();
        return Fault(i, "found nodes; expected none");
    }
  }

  absl::Status CheckKernel(size_t i, const Action& action,
                           const std::vector<CUgraphNode>& nodes) const {
    if (nodes.size() != 1) {
      return Fault(
          i, absl::StrCat("found ", nodes.size(), " nodes; expected a launch"));
    }
    CUDA_KERNEL_NODE_PARAMS found = {};
    PARTITA_RETURN_IF_ERROR(
        Check(api_.GraphKernelNodeGetParams(nodes[0], &found),
              "cuGraphKernelNodeGetParams"));
    const LaunchDescription expected = *action.kernel->Describe(action.args);
    if (found.func != expected.function ||
        std::tuple(found.gridDimX, found.gridDimY, found.gridDimZ) !=
            std::tuple(expected.blocks, 1u, 1u) ||
        std::tuple(found.blockDimX, found.blockDimY, found.blockDimZ) !=
            std::tuple(expected.threads, 1u, 1u)) {
      return Fault(i, "found another launch; expected that of its kernel");
    }
    size_t p = 0;
    for (const auto& buffers : {action.args.operands, action.args.results}) {
      for (void* const buffer : buffers) {
        if (*static_cast<void**>(found.kernelParams[p]) != buffer) {
          return Fault(i, absl::StrCat("found another address in parameter ", p,
                                       "; expected that of its buffer"));
        }
        ++p;
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CopyOfRun> ReadCopy(CUgraphNode node) const {
    CUDA_MEMCPY3D found = {};
    PARTITA_RETURN_IF_ERROR(Check(api_.GraphMemcpyNodeGetParams(node, &found),
                                  "cuGraphMemcpyNodeGetParams"));
    return CopyOfRun{found.dstDevice + found.dstXInBytes,
                     found.srcDevice + found.srcXInBytes,
                     found.WidthInBytes * found.Height * found.Depth};
  }

  absl::Status CheckCopy(size_t i, const Transfer& transfer,
                         const std::vector<CUgraphNode>& nodes) const {
    std::vector<CopyOfRun> found;
    for (const CUgraphNode node : nodes) {
      PARTITA_ASSIGN_OR_RETURN(found.emplace_back(), ReadCopy(node));
    }
    if (found == RunsOf(transfer.to, transfer.from)) return absl::OkStatus();
    if (found.empty()) return Fault(i, "found no node; expected a copy");
    const Blocks staging = {reinterpret_cast<std::byte*>(found[0].to),
                            transfer.from.size()};
    std::vector<CopyOfRun> hops = RunsOf(staging, transfer.from);
    for (const CopyOfRun& run : RunsOf(transfer.to, staging)) {
      hops.push_back(run);
    }
    CUmemorytype type = CU_MEMORYTYPE_DEVICE;
    if (found != hops ||
        api_.PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 found[0].to) != CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_HOST) {
      return Fault(i, "found another copy; expected that of its buffers");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Closure> OrderOfNodes() const {
    size_t count = 0;
    PARTITA_RETURN_IF_ERROR(Check(
        api_.GraphGetEdges(graph_.get(), nullptr, nullptr, nullptr, &count),
        "cuGraphGetEdges"));
    std::vector<CUgraphNode> from(count), to(count);
    std::vector<CUgraphEdgeData> kinds(count);
    if (count > 0) {
      PARTITA_RETURN_IF_ERROR(
          Check(api_.GraphGetEdges(graph_.get(), from.data(), to.data(),
                                   kinds.data(), &count),
                "cuGraphGetEdges"));
    }
    Edges edges(index_.size());
    for (size_t e = 0; e < count; ++e) {
      edges[index_.at(from[e])].push_back(index_.at(to[e]));
    }
    return ClosureOf(edges);
  }

  // plan-semantics: streams, and events from the record to each wait.
  Closure OrderOfCommands() const {
    Edges edges(actions_.size());
    std::map<StreamId, int> last;
    std::map<EventId, int> records;
    for (size_t i = 0; i < actions_.size(); ++i) {
      const int number = static_cast<int>(i);
      const Command& command =
          (*context_.commands)[actions_[i].action().command];
      const auto before = last.find(command.stream);
      if (before != last.end()) edges[before->second].push_back(number);
      last[command.stream] = number;
      if (command.kind == Command::Kind::kRecord) {
        records[command.event] = number;
      }
      if (command.kind != Command::Kind::kWait) continue;
      const auto record = records.find(command.event);
      if (record != records.end()) edges[record->second].push_back(number);
    }
    return ClosureOf(edges);
  }

  absl::Status CheckOrder() const {
    PARTITA_ASSIGN_OR_RETURN(const Closure nodes, OrderOfNodes());
    const Closure commands = OrderOfCommands();
    for (size_t a = 0; a < actions_.size(); ++a) {
      // The hops of a copy, one after the other.
      for (int n = nodes_before_[a]; n + 1 < nodes_before_[a + 1]; ++n) {
        if (!nodes[n][n + 1]) return Fault(a, "found its nodes unordered");
      }
      for (size_t b = 0; b < actions_.size(); ++b) {
        if (commands[a][b]) {
          PARTITA_RETURN_IF_ERROR(CheckPair(a, b, nodes));
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckPair(size_t a, size_t b, const Closure& nodes) const {
    for (int m = nodes_before_[a]; m < nodes_before_[a + 1]; ++m) {
      for (int n = nodes_before_[b]; n < nodes_before_[b + 1]; ++n) {
        if (nodes[m][n]) continue;
        return Fault(a, absl::StrCat("found no path to ", Name(b),
                                     "; expected one, as in the plan"));
      }
    }
    return absl::OkStatus();
  }

  const EntryContext& context_;
  const DriverApi& api_;
  const std::vector<FedAction>& actions_;
  const std::vector<int>& nodes_before_;
  const CudaGraph& graph_;
  const int slot_;
  absl::flat_hash_map<CUgraphNode, int> index_;
};

}  // namespace

absl::Status ProveGraphs(const EntryRunner& runner, const DriverApi& api) {
  const EntryContext& context = runner.context();
  for (const GraphRun* run : runner.Graphs()) {
    for (int slot = 0; slot < context.entry->depth; ++slot) {
      PARTITA_RETURN_IF_ERROR(Proof(context, api, *run, slot).Run());
    }
  }
  return absl::OkStatus();
}

}  // namespace partita
