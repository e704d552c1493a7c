// Errors that end a device's contexts, and those that do not.
// SPDX-License-Identifier: Apache-2.0

#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::driver_rules {
namespace {

// Codes of calls after a kernel's error (error.afterwards).
void Sticky(Bench& bench, CUdeviceptr astray, CUresult error) {
  const DriverApi& api = bench.api;
  const CUdeviceptr word = bench.Memory(4);
  CUevent event = bench.Event();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  bench.Is("graph", api.GraphCreate(&graph, 0));
  bench.Is("exec", api.GraphInstantiate(&exec, graph, 0));
  bench.Is("record", api.EventRecord(event, bench.two));
  bench.Is("synchronize", api.EventSynchronize(event));
  bench.Is("launch", bench.Launch(bench.one, "set_word", astray, 1u));
  bench.Is("synchronize", api.StreamSynchronize(bench.one), error);
  bench.Is("once more", api.StreamSynchronize(bench.one), error);
  bench.Is("another stream", api.StreamSynchronize(bench.two), error);
  bench.Is("cuStreamQuery", api.StreamQuery(bench.two), error);
  bench.Is("cuEventQuery", api.EventQuery(event), error);
  bench.Is("cuEventRecord", api.EventRecord(event, bench.two), error);
  bench.Is("cuLaunchKernel", bench.Launch(bench.two, "empty"), error);
  bench.Is("cuGraphLaunch", api.GraphLaunch(exec, bench.two), error);
  CUdeviceptr memory = 0;
  void* host = nullptr;
  size_t free = 0;
  size_t total = 0;
  CUcontext current = nullptr;
  uint32_t seen = 0;
  bench.Is("cuMemAlloc", api.MemAlloc(&memory, 64), error);
  bench.Is("cuMemHostAlloc",
           api.MemHostAlloc(&host, 64, CU_MEMHOSTALLOC_PORTABLE), error);
  bench.Is("cuMemGetInfo", api.MemGetInfo(&free, &total), error);
  bench.Is("cuMemcpyDtoH", api.MemcpyDtoH(&seen, word, 4), error);
  bench.Is("cuCtxSynchronize", api.CtxSynchronize(), error);
  bench.Is("cuCtxGetCurrent", api.CtxGetCurrent(&current));
  bench.Is("cuCtxSetCurrent", api.CtxSetCurrent(bench.context));
  bench.Is("cuGraphExecDestroy", api.GraphExecDestroy(exec));
  bench.Is("cuGraphDestroy", api.GraphDestroy(graph));
  int warp = 0;
  bench.Is("cuDeviceGetAttribute",
           api.DeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
}

void IllegalAddress(Bench& bench) {
  Sticky(bench, 0x10, CUDA_ERROR_ILLEGAL_ADDRESS);
}

void Misaligned(Bench& bench) {
  Sticky(bench, bench.Memory(64) + 1, CUDA_ERROR_MISALIGNED_ADDRESS);
}

void OtherContext(Bench& bench) {
  const DriverApi& api = bench.api;
  CUcontext other = bench.OtherContext();
  bench.Is("launch",
           bench.Launch(bench.one, "set_word", CUdeviceptr{0x10}, 1u));
  bench.Is("synchronize", api.StreamSynchronize(bench.one),
           CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr memory = 0;
  CUcontext third = nullptr;
  bench.Is("the other context", api.CtxSetCurrent(other));
  bench.Is("alloc there", api.MemAlloc(&memory, 64),
           CUDA_ERROR_ILLEGAL_ADDRESS);
  bench.Is("a new context", api.CtxCreate(&third, nullptr, 0, 0),
           CUDA_ERROR_ILLEGAL_ADDRESS);
  bench.Is("back", api.CtxSetCurrent(bench.context));
}

void CountCall(void* calls) { ++*static_cast<int*>(calls); }

void NoCallAfterError(Bench& bench) {
  static int calls = 0;
  calls = 0;
  bench.Is("launch",
           bench.Launch(bench.one, "set_word", CUdeviceptr{0x10}, 1u));
  bench.api.LaunchHostFunc(bench.one, CountCall, &calls);
  bench.Is("synchronize", bench.api.StreamSynchronize(bench.one),
           CUDA_ERROR_ILLEGAL_ADDRESS);
  bench.Equals("calls", calls, 0);
}

constexpr Rule kRules[] = {
    {"error.illegal_address", "cuda.h:2837, error.afterwards", IllegalAddress,
     /*devices=*/1, /*ends_contexts=*/true},
    {"error.misaligned", "cuda.h:2944", Misaligned, 1, true},
    {"error.other_context", "cuda.h:2833", OtherContext, 1, true},
    {"error.no_call_after", "cuda.h:18101", NoCallAfterError, 1, true},
};

}  // namespace

absl::Span<const Rule> ErrorRules() { return kRules; }

}  // namespace partita::driver_rules
