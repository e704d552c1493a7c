// The bench of a rule, and the kernels.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver_rules/rule.h"

#include <cstring>

#include "absl/strings/str_join.h"

namespace partita::driver_rules {

const char kRuleKernels[] = R"(
.version 7.8
.target sm_80
.address_size 64

.visible .entry empty()
{
  ret;
}

.visible .entry set_word(.param .u64 address, .param .u32 value)
{
  .reg .b64 %a<2>;
  .reg .b32 %v;
  ld.param.u64 %a0, [address];
  ld.param.u32 %v, [value];
  cvta.to.global.u64 %a1, %a0;
  st.global.u32 [%a1], %v;
  ret;
}

.visible .entry add_word(.param .u64 address, .param .u32 value)
{
  .reg .b64 %a<2>;
  .reg .b32 %v<3>;
  ld.param.u64 %a0, [address];
  ld.param.u32 %v0, [value];
  cvta.to.global.u64 %a1, %a0;
  ld.global.u32 %v1, [%a1];
  add.s32 %v2, %v1, %v0;
  st.global.u32 [%a1], %v2;
  ret;
}

.visible .entry copy_word(.param .u64 to, .param .u64 from)
{
  .reg .b64 %a<4>;
  .reg .b32 %v;
  ld.param.u64 %a0, [to];
  ld.param.u64 %a1, [from];
  cvta.to.global.u64 %a2, %a0;
  cvta.to.global.u64 %a3, %a1;
  ld.global.u32 %v, [%a3];
  st.global.u32 [%a2], %v;
  ret;
}

.visible .entry few_threads()
.maxntid 64, 1, 1
{
  ret;
}
)";

Bench::Bench(const DriverApi& driver) : api(driver) {
  Is("cuInit", api.Init(0));
  Is("cuDeviceGet", api.DeviceGet(&device_, 0));
  Is("cuDevicePrimaryCtxRetain", api.DevicePrimaryCtxRetain(&context, device_));
  Is("cuCtxSetCurrent", api.CtxSetCurrent(context));
  Is("cuLibraryLoadData", api.LibraryLoadData(&library_, kRuleKernels, nullptr,
                                              nullptr, 0, nullptr, nullptr, 0));
  for (CUstream* stream : {&one, &two}) {
    Is("cuStreamCreate", api.StreamCreate(stream, CU_STREAM_NON_BLOCKING));
  }
}

// Codes are of no interest: after an error that ends contexts, all are bad.
Bench::~Bench() {
  api.CtxSynchronize();
  for (CUgraph graph : graphs_) api.GraphDestroy(graph);
  for (CUevent event : events_) api.EventDestroy(event);
  for (CUdeviceptr memory : memory_) api.MemFree(memory);
  for (void* memory : pinned_) api.MemFreeHost(memory);
  for (CUstream stream : {one, two}) api.StreamDestroy(stream);
  for (CUcontext other : contexts_) api.CtxDestroy(other);
  api.LibraryUnload(library_);
  api.CtxSetCurrent(nullptr);
  api.DevicePrimaryCtxRelease(device_);
}

void Bench::Note(const std::string& fault) {
  absl::StrAppend(&faults_, faults_.empty() ? "" : "; ", fault);
}

void Bench::Is(absl::string_view step, CUresult seen, CUresult expected) {
  if (seen == expected) return;
  Note(absl::StrCat(step, ": found ", CudaCodeName(api, seen), "; expected ",
                    CudaCodeName(api, expected)));
}

void Bench::Holds(absl::string_view step, bool seen) {
  if (!seen) Note(absl::StrCat(step, ": found that it is not so"));
}

CUdeviceptr Bench::Memory(size_t bytes) {
  CUdeviceptr memory = 0;
  Is("cuMemAlloc", api.MemAlloc(&memory, bytes));
  Is("cuMemsetD8Async", api.MemsetD8Async(memory, 0, bytes, one));
  Is("cuStreamSynchronize", api.StreamSynchronize(one));
  memory_.push_back(memory);
  return memory;
}

uint32_t* Bench::Pinned(size_t words) {
  void* memory = nullptr;
  Is("cuMemHostAlloc",
     api.MemHostAlloc(&memory, 4 * words, CU_MEMHOSTALLOC_PORTABLE));
  if (memory != nullptr) std::memset(memory, 0, 4 * words);
  pinned_.push_back(memory);
  return static_cast<uint32_t*>(memory);
}

CUevent Bench::Event(unsigned flags) {
  CUevent event = nullptr;
  Is("cuEventCreate", api.EventCreate(&event, flags));
  events_.push_back(event);
  return event;
}

CUcontext Bench::OtherContext() {
  CUcontext other = nullptr;
  Is("cuCtxCreate", api.CtxCreate(&other, nullptr, 0, device_));
  Is("cuCtxSetCurrent", api.CtxSetCurrent(nullptr));  // pops it
  contexts_.push_back(other);
  return other;
}

uint32_t Bench::Word(CUdeviceptr address) {
  uint32_t word = 0;
  Is("cuMemcpyDtoHAsync", api.MemcpyDtoHAsync(&word, address, 4, one));
  Is("cuStreamSynchronize", api.StreamSynchronize(one));
  return word;
}

CUkernel Bench::Kernel(const char* name) {
  CUkernel& kernel = kernels_[name];
  if (kernel == nullptr) {
    Is(name, api.LibraryGetKernel(&kernel, library_, name));
  }
  return kernel;
}

CUgraphNode Bench::AddKernelNode(CUgraph graph,
                                 const std::vector<CUgraphNode>& after,
                                 const char* kernel, void** parameters,
                                 CUcontext where) {
  CUDA_KERNEL_NODE_PARAMS params = {};
  params.kern = Kernel(kernel);
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = parameters;
  params.ctx = where;
  CUgraphNode node = nullptr;
  Is("cuGraphAddKernelNode",
     api.GraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

CUgraphNode Bench::AddCopy(CUgraph graph, const std::vector<CUgraphNode>& after,
                           CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  CUgraphNode node = nullptr;
  Is("cuGraphAddMemcpyNode",
     api.GraphAddMemcpyNode(&node, graph, after.data(), after.size(), &copy,
                            context));
  return node;
}

CUgraphNode Bench::AddEmpty(CUgraph graph,
                            const std::vector<CUgraphNode>& after) {
  CUgraphNode node = nullptr;
  Is("cuGraphAddEmptyNode",
     api.GraphAddEmptyNode(&node, graph, after.data(), after.size()));
  return node;
}

CUgraph Bench::Graph() {
  CUgraph graph = nullptr;
  Is("cuGraphCreate", api.GraphCreate(&graph, 0));
  graphs_.push_back(graph);
  return graph;
}

void Bench::Run(CUgraph graph) {
  CUgraphExec exec = nullptr;
  Is("cuGraphInstantiate", api.GraphInstantiate(&exec, graph, 0));
  if (exec == nullptr) return;
  Is("cuGraphLaunch", api.GraphLaunch(exec, one));
  Is("cuStreamSynchronize", api.StreamSynchronize(one));
  Is("cuGraphExecDestroy", api.GraphExecDestroy(exec));
}

std::string Bench::NodesOf(CUgraph graph) {
  size_t count = 0;
  Is("cuGraphGetNodes", api.GraphGetNodes(graph, nullptr, &count));
  std::vector<CUgraphNode> nodes(count);
  if (count > 0) {
    Is("cuGraphGetNodes", api.GraphGetNodes(graph, nodes.data(), &count));
  }
  std::map<std::string, int> counts;
  for (CUgraphNode node : nodes) {
    CUgraphNodeType type{};
    Is("cuGraphNodeGetType", api.GraphNodeGetType(node, &type));
    ++counts[type == CU_GRAPH_NODE_TYPE_KERNEL   ? "kernel"
             : type == CU_GRAPH_NODE_TYPE_MEMCPY ? "memcpy"
             : type == CU_GRAPH_NODE_TYPE_MEMSET ? "memset"
             : type == CU_GRAPH_NODE_TYPE_HOST   ? "host"
             : type == CU_GRAPH_NODE_TYPE_EMPTY  ? "empty"
             : type == CU_GRAPH_NODE_TYPE_GRAPH  ? "child"
                                                 : "other"];
  }
  return absl::StrJoin(counts, ", ", absl::PairFormatter(" "));
}

size_t Bench::EdgesOf(CUgraph graph) {
  size_t count = 0;
  Is("cuGraphGetEdges",
     api.GraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  return count;
}

std::vector<Rule> AllRules() {
  std::vector<Rule> all;
  for (absl::Span<const Rule> group :
       {MemoryRules(), StreamRules(), ContextRules(), CodeRules(),
        CaptureRules(), GraphRules(), ErrorRules()}) {
    all.insert(all.end(), group.begin(), group.end());
  }
  return all;
}

}  // namespace partita::driver_rules
