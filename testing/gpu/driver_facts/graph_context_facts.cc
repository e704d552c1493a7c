// Graphs with nodes of two contexts of one device.
// SPDX-License-Identifier: Apache-2.0

#include "graph/status_macros.h"
#include "testing/gpu/driver_facts/fact.h"
#include "testing/gpu/driver_facts/gpu.h"
#include "testing/gpu/driver_facts/graph_building.h"

namespace partita {
namespace {

// A second context, and a word of memory in it.
struct Other {
  OwnedContext context;
  GlobalMemory word;
};

absl::StatusOr<Other> NewOther(const Gpu& gpu) {
  PARTITA_ASSIGN_OR_RETURN(OwnedContext context, gpu.NewContext());
  gpu.api().CtxSetCurrent(context.get());
  absl::StatusOr<GlobalMemory> word = gpu.NewMemory(64);
  gpu.api().CtxSetCurrent(gpu.context());
  if (!word.ok()) return word.status();
  return Other{std::move(context), *std::move(word)};
}

// Launches the graph in a stream of the primary context; reads `word` there.
absl::Status Run(const Gpu& gpu, CUgraph graph, CUdeviceptr word,
                 uint32_t expected, Steps& steps) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(OwnedStream stream, gpu.NewStream());
  CUgraphExec exec = nullptr;
  const CUresult result = api.GraphInstantiate(&exec, graph, 0);
  steps.Code("instantiate", result, CUDA_SUCCESS);
  if (result != CUDA_SUCCESS) return absl::OkStatus();
  steps.Code("launch", api.GraphLaunch(exec, stream.get()), CUDA_SUCCESS);
  steps.Code("synchronize", api.StreamSynchronize(stream.get()), CUDA_SUCCESS);
  PARTITA_ASSIGN_OR_RETURN(const uint32_t seen, gpu.ReadWord(word));
  steps.Is("word", seen, expected);
  steps.Code("destroy", api.GraphExecDestroy(exec));
  return absl::OkStatus();
}

// A copy from the primary context's memory to the other's, which runs in one of
// the two, and one back.
absl::StatusOr<Reading> CopyBetween(Gpu& gpu, bool run_in_other) {
  PARTITA_ASSIGN_OR_RETURN(const Other other, NewOther(gpu));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory here, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory back, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(gpu.api()));
  const CUcontext runs = run_in_other ? other.context.get() : gpu.context();
  Steps steps(gpu.api());
  const NodeCall set =
      AddKernel(gpu, graph.get(), {}, "set_word", {}, here.get(), 30u);
  steps.Code("add a kernel here", set.result, CUDA_SUCCESS);
  const NodeCall out = AddCopy(gpu, graph.get(), {set.node}, other.word.get(),
                               here.get(), 64, runs);
  steps.Code("add a copy to the other context", out.result, CUDA_SUCCESS);
  const NodeCall in = AddCopy(gpu, graph.get(), {out.node}, back.get(),
                              other.word.get(), 64, runs);
  steps.Code("add a copy back", in.result, CUDA_SUCCESS);
  PARTITA_RETURN_IF_ERROR(Run(gpu, graph.get(), back.get(), 30, steps));
  return steps.End();
}

absl::StatusOr<Reading> CopyHere(Gpu& gpu) { return CopyBetween(gpu, false); }
absl::StatusOr<Reading> CopyThere(Gpu& gpu) { return CopyBetween(gpu, true); }

// A kernel that runs in the other context behind one that runs here; named by
// its CUkernel and a context, or by the other context's CUfunction.
absl::StatusOr<Reading> KernelThere(Gpu& gpu, bool by_function) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(const Other other, NewOther(gpu));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory here, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  Steps steps(api);
  const NodeCall set =
      AddKernel(gpu, graph.get(), {}, "set_word", {}, here.get(), 30u);
  steps.Code("add a kernel here", set.result, CUDA_SUCCESS);
  CUdeviceptr address = other.word.get();
  uint32_t value = 3;
  void* parameters[] = {&address, &value};
  CUDA_KERNEL_NODE_PARAMS node =
      KernelNode(gpu, "add_word", {}, parameters, other.context.get());
  if (by_function) {
    api.CtxSetCurrent(other.context.get());
    steps.Code("get function",
               api.KernelGetFunction(&node.func, gpu.kernel("add_word")),
               CUDA_SUCCESS);
    api.CtxSetCurrent(gpu.context());
  }
  CUgraphNode add = nullptr;
  steps.Code("add a kernel there",
             api.GraphAddKernelNode(&add, graph.get(), &set.node, 1, &node),
             CUDA_SUCCESS);
  const NodeCall copy = AddCopy(gpu, graph.get(), {add}, here.get(),
                                other.word.get(), 64, gpu.context());
  steps.Code("add a copy back", copy.result, CUDA_SUCCESS);
  PARTITA_RETURN_IF_ERROR(Run(gpu, graph.get(), here.get(), 3, steps));
  return steps.End();
}

absl::StatusOr<Reading> ByKernel(Gpu& gpu) { return KernelThere(gpu, false); }
absl::StatusOr<Reading> ByFunction(Gpu& gpu) { return KernelThere(gpu, true); }

// The graph of one context, launched in a stream of the other.
absl::StatusOr<Reading> LaunchThere(Gpu& gpu) {
  const DriverApi& api = gpu.api();
  PARTITA_ASSIGN_OR_RETURN(const Other other, NewOther(gpu));
  PARTITA_ASSIGN_OR_RETURN(GlobalMemory here, gpu.NewMemory(64));
  PARTITA_ASSIGN_OR_RETURN(OwnedGraph graph, NewGraph(api));
  AddKernel(gpu, graph.get(), {}, "set_word", {}, here.get(), 30u);
  PARTITA_ASSIGN_OR_RETURN(OwnedGraphExec exec, Instantiate(api, graph.get()));
  api.CtxSetCurrent(other.context.get());
  absl::StatusOr<OwnedStream> stream = gpu.NewStream();
  api.CtxSetCurrent(gpu.context());
  if (!stream.ok()) return stream.status();
  Steps steps(api);
  steps.Code("launch", api.GraphLaunch(exec.get(), stream->get()));
  steps.Code("synchronize", api.StreamSynchronize(stream->get()));
  PARTITA_ASSIGN_OR_RETURN(const uint32_t seen, gpu.ReadWord(here.get()));
  steps.Note(absl::StrCat("word ", seen));
  return steps.End();
}

constexpr Fact kFacts[] = {
    {"graph_context.copy",
     "A graph's memcpy nodes may name memory of two contexts", "cuda.h:18823",
     "built, launched, right value", CopyHere, Process::kMayDie},
    {"graph_context.copy_in_other",
     "The same, the nodes running in the context that is not the stream's",
     "cuda.h:18823", "built, launched, right value", CopyThere,
     Process::kMayDie},
    {"graph_context.kernel",
     "A kernel node may name a context that is not the stream's",
     "cuda.h:1788, 2004", "built, launched, right value", ByKernel,
     Process::kMayDie},
    {"graph_context.function",
     "The same, with the function of the other context", "cuda.h:1788, 2004",
     "built, launched, right value", ByFunction, Process::kMayDie},
    {"graph_context.launch",
     "A graph of one context launched in a stream of another",
     "none: cuda.h is silent", "figure", LaunchThere, Process::kMayDie},
};

}  // namespace

FactGroup GraphContextFacts() { return {"graph_context", kFacts}; }

}  // namespace partita
