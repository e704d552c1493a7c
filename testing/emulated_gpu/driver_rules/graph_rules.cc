// Graphs that are built node by node.
// SPDX-License-Identifier: Apache-2.0

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::driver_rules {
namespace {

CUgraphExec Instantiate(Bench& bench, CUgraph graph) {
  CUgraphExec exec = nullptr;
  bench.Is("instantiate", bench.api.GraphInstantiate(&exec, graph, 0));
  return exec;
}

void BuildAndReadBack(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr words = bench.Memory(64);
  uint32_t* host = bench.Pinned(16);
  CUgraph graph = bench.Graph();
  CUDA_MEMSET_NODE_PARAMS fill = {};
  fill.dst = words;
  fill.value = 40;
  fill.elementSize = 4;
  fill.width = 16;
  fill.height = 1;
  CUgraphNode set = nullptr;
  bench.Is("add memset", api.GraphAddMemsetNode(&set, graph, nullptr, 0, &fill,
                                                bench.context));
  const CUgraphNode add = bench.AddKernel(graph, {set}, "add_word", words, 2u);
  const CUgraphNode copy = bench.AddCopy(
      graph, {add}, reinterpret_cast<CUdeviceptr>(host), words, 64);
  const CUgraphNode empty = bench.AddEmpty(graph, {set});
  bench.Equals("nodes", bench.NodesOf(graph),
               std::string("empty 1, kernel 1, memcpy 1, memset 1"));
  size_t count = 3;
  CUgraphNode from[3];
  CUgraphNode to[3];
  CUgraphEdgeData kinds[3];
  bench.Is("edges", api.GraphGetEdges(graph, from, to, kinds, &count));
  bench.Equals("edges", count, size_t{3});
  std::vector<std::pair<CUgraphNode, CUgraphNode>> seen;
  for (int i = 0; i < 3; ++i) seen.emplace_back(from[i], to[i]);
  std::vector<std::pair<CUgraphNode, CUgraphNode>> wanted = {
      {set, add}, {add, copy}, {set, empty}};
  absl::c_sort(seen);
  absl::c_sort(wanted);
  bench.Holds("the edges that were given", seen == wanted);
  bench.Run(graph);
  bench.Equals("word 0", host[0], 42u);
  bench.Equals("word 1", host[1], 40u);
}

void Misuse(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr memory = bench.Memory(1024);
  CUgraph graph = bench.Graph();
  CUgraph other = bench.Graph();
  const CUgraphNode one = bench.AddEmpty(graph, {});
  const CUgraphNode two = bench.AddEmpty(graph, {one});
  const CUgraphEdgeData plain = {};
  CUgraphNode node = nullptr;
  bench.Is("an edge twice",
           api.GraphAddDependencies(graph, &one, &two, &plain, 1),
           CUDA_ERROR_INVALID_VALUE);
  bench.Is("a dependency of another graph",
           api.GraphAddEmptyNode(&node, other, &one, 1),
           CUDA_ERROR_INVALID_VALUE);
  const CUgraphNode twice[] = {one, one};
  bench.Is("a dependency twice", api.GraphAddEmptyNode(&node, graph, twice, 2),
           CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = memory;
  copy.dstDevice = memory + 512;
  copy.Height = copy.Depth = 1;
  bench.Is(
      "a copy of 0 bytes",
      api.GraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, bench.context),
      CUDA_ERROR_INVALID_VALUE);
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.kern = bench.Kernel("empty");
  kernel.ctx = bench.context;
  bench.Is("a kernel of 0 blocks",
           api.GraphAddKernelNode(&node, graph, nullptr, 0, &kernel),
           CUDA_ERROR_INVALID_VALUE);
  bench.Run(graph);
  bench.Is("an edge back",
           api.GraphAddDependencies(graph, &two, &one, &plain, 1));
  CUgraphExec exec = nullptr;
  bench.Is("a cycle", api.GraphInstantiate(&exec, graph, 0),
           CUDA_ERROR_INVALID_VALUE);
  bench.Run(other);  // without nodes
}

// A diamond, launched thrice: each launch behind the one before.
void LaunchedInTurn(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr words = bench.Memory(16);
  CUgraph graph = bench.Graph();
  const CUgraphNode top = bench.AddKernel(graph, {}, "add_word", words, 1u);
  const CUgraphNode left =
      bench.AddKernel(graph, {top}, "copy_word", words + 4, words);
  const CUgraphNode right =
      bench.AddKernel(graph, {top}, "copy_word", words + 8, words);
  bench.AddKernel(graph, {left, right}, "add_word", words, 10u);
  CUgraphExec exec = Instantiate(bench, graph);
  bench.Is("upload", api.GraphUpload(exec, bench.one));
  bench.Is("launch", api.GraphLaunch(exec, bench.one));
  bench.Is("launch in another stream", api.GraphLaunch(exec, bench.two));
  bench.Is("launch", api.GraphLaunch(exec, bench.one));
  bench.Is("synchronize", api.StreamSynchronize(bench.one));
  bench.Is("synchronize", api.StreamSynchronize(bench.two));
  bench.Equals("word 0", bench.Word(words), 33u);
  bench.Equals("word 1", bench.Word(words + 4), 23u);
  bench.Equals("word 2", bench.Word(words + 8), 23u);
  bench.Is("destroy", api.GraphExecDestroy(exec));
}

void Parameters(Bench& bench) {
  const DriverApi& api = bench.api;
  CUdeviceptr word = bench.Memory(4);
  CUgraph graph = bench.Graph();
  uint32_t value = 1;
  void* parameters[] = {&word, &value};
  const CUgraphNode node =
      bench.AddKernelNode(graph, {}, "add_word", parameters, bench.context);
  value = 100;
  CUgraphExec exec = Instantiate(bench, graph);
  bench.Is("launch", api.GraphLaunch(exec, bench.one));
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.kern = bench.Kernel("add_word");
  kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
  kernel.kernelParams = parameters;
  kernel.ctx = bench.context;
  value = 20;
  bench.Is("set", api.GraphExecKernelNodeSetParams(exec, node, &kernel));
  value = 100;
  bench.Is("launch", api.GraphLaunch(exec, bench.one));
  bench.Is("destroy while it may run", api.GraphExecDestroy(exec));
  bench.Is("synchronize", api.StreamSynchronize(bench.one));
  bench.Equals("word", bench.Word(word), 21u);
}

void Update(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUgraph first = bench.Graph();
  CUgraph second = bench.Graph();
  bench.AddKernel(first, {}, "add_word", word, 1u);
  bench.AddKernel(second, {}, "add_word", word, 10u);
  CUgraphExec exec = Instantiate(bench, first);
  bench.Is("launch", api.GraphLaunch(exec, bench.one));
  CUgraphExecUpdateResultInfo how = {};
  bench.Is("an equal graph", api.GraphExecUpdate(exec, second, &how));
  bench.Is("launch", api.GraphLaunch(exec, bench.one));
  bench.Equals("word", bench.Word(word), 11u);
  bench.AddEmpty(second, {});
  bench.Is("one with another node", api.GraphExecUpdate(exec, second, &how),
           CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  bench.Is("destroy", api.GraphExecDestroy(exec));
}

void Children(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUgraph child = bench.Graph();
  bench.AddKernel(child, {bench.AddKernel(child, {}, "add_word", word, 1u)},
                  "add_word", word, 2u);
  CUgraph graph = bench.Graph();
  const CUgraphNode before = bench.AddKernel(graph, {}, "set_word", word, 100u);
  CUgraphNode nodes[2] = {};
  bench.Is("add",
           api.GraphAddChildGraphNode(&nodes[0], graph, &before, 1, child));
  bench.Is("add",
           api.GraphAddChildGraphNode(&nodes[1], graph, nodes, 1, child));
  // The child was copied.
  bench.AddKernel(child, {}, "set_word", word, 0u);
  bench.AddKernel(graph, {nodes[1]}, "add_word", word, 1000u);
  bench.Equals("nodes", bench.NodesOf(graph), std::string("child 2, kernel 2"));
  bench.Run(graph);
  bench.Equals("word", bench.Word(word), 1106u);
}

void AddOne(void* number) { ++*static_cast<uint32_t*>(number); }

void HostNodes(Bench& bench) {
  uint32_t calls = 0;
  CUgraph graph = bench.Graph();
  const CUDA_HOST_NODE_PARAMS params = {AddOne, &calls};
  CUgraphNode first = nullptr;
  CUgraphNode second = nullptr;
  bench.Is("add",
           bench.api.GraphAddHostNode(&first, graph, nullptr, 0, &params));
  bench.Is("add",
           bench.api.GraphAddHostNode(&second, graph, &first, 1, &params));
  bench.Run(graph);
  bench.Equals("calls", calls, 2u);
}

// Nodes of two contexts, behind each other.
void TwoContexts(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr here = bench.Memory(64);
  CUcontext other = bench.OtherContext();
  bench.Is("current", api.CtxSetCurrent(other));
  CUdeviceptr there = 0;
  bench.Is("alloc", api.MemAlloc(&there, 64));
  bench.Is("current", api.CtxSetCurrent(bench.context));
  CUgraph graph = bench.Graph();
  const CUgraphNode set = bench.AddKernel(graph, {}, "set_word", here, 30u);
  const CUgraphNode out = bench.AddCopy(graph, {set}, there, here, 64);
  uint32_t value = 3;
  void* parameters[] = {&there, &value};
  const CUgraphNode add =
      bench.AddKernelNode(graph, {out}, "add_word", parameters, other);
  bench.AddCopy(graph, {add}, here, there, 64);
  bench.Run(graph);
  bench.Equals("word", bench.Word(here), 33u);
  bench.Is("current", api.CtxSetCurrent(other));
  bench.Is("free", api.MemFree(there));
  bench.Is("current", api.CtxSetCurrent(bench.context));
}

// What a kernel node and a memcpy node do is read back.
void NodesReadBack(Bench& bench) {
  const DriverApi& api = bench.api;
  CUdeviceptr words = bench.Memory(64);
  uint32_t* host = bench.Pinned(16);
  CUgraph graph = bench.Graph();
  uint32_t value = 7;
  void* parameters[] = {&words, &value};
  const CUgraphNode set =
      bench.AddKernelNode(graph, {}, "set_word", parameters, bench.context);
  const CUgraphNode copy = bench.AddCopy(
      graph, {set}, reinterpret_cast<CUdeviceptr>(host), words, 32);
  value = 8;  // the node has its own
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  bench.Is("kernel", api.GraphKernelNodeGetParams(set, &kernel));
  bench.Equals("blocks", kernel.gridDimX, 1u);
  bench.Equals("threads", kernel.blockDimX, 1u);
  if (kernel.kernelParams == nullptr) return;
  bench.Holds("the address",
              *static_cast<CUdeviceptr*>(kernel.kernelParams[0]) == words);
  bench.Equals("the value", *static_cast<uint32_t*>(kernel.kernelParams[1]),
               7u);
  CUDA_MEMCPY3D params = {};
  bench.Is("memcpy", api.GraphMemcpyNodeGetParams(copy, &params));
  bench.Equals("bytes", params.WidthInBytes, size_t{32});
  bench.Holds("from", params.srcDevice == words);
  bench.Is("a kernel of a memcpy node",
           api.GraphKernelNodeGetParams(copy, &kernel),
           CUDA_ERROR_INVALID_VALUE);
}

// Two launches record the events anew; their times are those of the last one.
void EventRecords(Bench& bench) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUevent before = bench.Event(CU_EVENT_DEFAULT);
  CUevent after = bench.Event(CU_EVENT_DEFAULT);
  CUgraph graph = bench.Graph();
  CUgraphNode first = nullptr;
  CUgraphNode last = nullptr;
  bench.Is("add",
           api.GraphAddEventRecordNode(&first, graph, nullptr, 0, before));
  const CUgraphNode set = bench.AddKernel(graph, {first}, "set_word", word, 5u);
  bench.Is("add", api.GraphAddEventRecordNode(&last, graph, &set, 1, after));
  CUevent found = nullptr;
  bench.Is("event", api.GraphEventRecordNodeGetEvent(last, &found));
  bench.Holds("the event that was given", found == after);
  CUgraphExec exec = Instantiate(bench, graph);
  float milliseconds = -1;
  bench.Is("a time before the launch",
           api.EventElapsedTime(&milliseconds, before, after),
           CUDA_ERROR_INVALID_HANDLE);
  for (int launch = 0; launch < 2; ++launch) {
    bench.Is("launch", api.GraphLaunch(exec, bench.one));
    bench.Is("synchronize", api.StreamSynchronize(bench.one));
    bench.Is("a time", api.EventElapsedTime(&milliseconds, before, after));
    bench.Holds("it is none before the first event", milliseconds >= 0);
  }
  bench.Equals("word", bench.Word(word), 5u);
  bench.Is("destroy", api.GraphExecDestroy(exec));
}

void LaunchDestroyed(Bench& bench) {
  CUgraph graph = bench.Graph();
  bench.AddEmpty(graph, {});
  CUgraphExec exec = Instantiate(bench, graph);
  bench.Is("destroy", bench.api.GraphExecDestroy(exec));
  bench.Is("launch", bench.api.GraphLaunch(exec, bench.one),
           CUDA_ERROR_INVALID_VALUE);
}

constexpr Rule kRules[] = {
    {"graph.build_and_read_back", "cuda.h:20104, 20175", BuildAndReadBack},
    {"graph.misuse", "graph_misuse.*", Misuse},
    {"graph.launched_in_turn", "cuda.h:21050", LaunchedInTurn},
    {"graph.parameters", "cuda.h:20562", Parameters},
    {"graph.update", "cuda.h:3134, 21125", Update},
    {"graph.children", "cuda.h:19083", Children},
    {"graph.host_nodes", "cuda.h:19025", HostNodes},
    {"graph.two_contexts", "cuda.h:1788, 2004", TwoContexts},
    {"graph.nodes_read_back", "cuda.h:18738, 18849", NodesReadBack},
    {"graph.event_records", "cuda.h:19185, 19225", EventRecords},
    {"graph.launch_destroyed", "misuse.launch_destroyed_exec", LaunchDestroyed},
};

}  // namespace

absl::Span<const Rule> GraphRules() { return kRules; }

}  // namespace partita::driver_rules
