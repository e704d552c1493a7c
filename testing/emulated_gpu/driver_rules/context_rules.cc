// Contexts, devices and peers.
// SPDX-License-Identifier: Apache-2.0

#include <cstdio>
#include <cstring>

#include "testing/emulated_gpu/driver_rules/rule.h"

namespace partita::driver_rules {
namespace {

void Stack(Bench& bench) {
  const DriverApi& api = bench.api;
  CUcontext made = nullptr;
  CUcontext current = nullptr;
  bench.Is("create", api.CtxCreate(&made, nullptr, 0, 0));
  bench.Is("get", api.CtxGetCurrent(&current));
  bench.Holds("the new context is current", current == made);
  bench.Is("set null", api.CtxSetCurrent(nullptr));
  bench.Is("get", api.CtxGetCurrent(&current));
  bench.Holds("the one before is current", current == bench.context);
  bench.Is("set null", api.CtxSetCurrent(nullptr));
  bench.Is("get", api.CtxGetCurrent(&current));
  bench.Holds("none is current", current == nullptr);
  CUdeviceptr memory = 0;
  bench.Is("alloc without a context", api.MemAlloc(&memory, 64),
           CUDA_ERROR_INVALID_CONTEXT);
  bench.Is("launch without a context", bench.Launch(bench.one, "empty"));
  bench.Is("set", api.CtxSetCurrent(bench.context));
  bench.Is("destroy", api.CtxDestroy(made));
}

void Primary(Bench& bench) {
  const DriverApi& api = bench.api;
  CUcontext again = nullptr;
  unsigned flags = 0;
  int active = 0;
  bench.Is("retain", api.DevicePrimaryCtxRetain(&again, 0));
  bench.Holds("is the same", again == bench.context);
  bench.Is("release", api.DevicePrimaryCtxRelease(0));
  bench.Is("state", api.DevicePrimaryCtxGetState(0, &flags, &active));
  bench.Equals("active", active, 1);
}

void ForeignFunction(Bench& bench) {
  const DriverApi& api = bench.api;
  CUfunction function = nullptr;
  CUcontext other = bench.OtherContext();
  CUstream there = nullptr;
  bench.Is("function", api.KernelGetFunction(&function, bench.Kernel("empty")));
  bench.Is("current", api.CtxSetCurrent(other));
  bench.Is("create", api.StreamCreate(&there, CU_STREAM_NON_BLOCKING));
  bench.Is(
      "a function in a stream of another context",
      api.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, there, nullptr, nullptr),
      CUDA_ERROR_INVALID_HANDLE);
  bench.Is("a kernel", bench.Launch(there, "empty"));
  bench.Is("a kernel in a stream of a context that is not current",
           bench.Launch(bench.one, "empty"));
  bench.Is("synchronize", api.StreamSynchronize(there));
  bench.Is("destroy", api.StreamDestroy(there));
  bench.Is("current", api.CtxSetCurrent(bench.context));
}

void Devices(Bench& bench) {
  const DriverApi& api = bench.api;
  int count = 0;
  CUdevice device = 0;
  int version = 0;
  size_t bytes = 0;
  int warp = 0;
  bench.Is("count", api.DeviceGetCount(&count));
  bench.Is("one too many", api.DeviceGet(&device, count),
           CUDA_ERROR_INVALID_DEVICE);
  bench.Is("version", api.DriverGetVersion(&version));
  bench.Holds("as old as the table needs", version >= kOldestDriver);
  bench.Is("memory", api.DeviceTotalMem(&bytes, 0));
  bench.Is("attribute",
           api.DeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
  bench.Equals("threads of a warp", warp, 32);
  void* function = nullptr;
  CUdriverProcAddressQueryResult how{};
  bench.Is("address of cuMemAlloc",
           api.GetProcAddress("cuMemAlloc", &function, 12000, 0, &how));
  bench.Holds("is one", function != nullptr);
  bench.Is("address of what is not there",
           api.GetProcAddress("cuNoSuchCall", &function, 12000, 0, &how),
           CUDA_ERROR_NOT_FOUND);
}

void Names(Bench& bench) {
  const DriverApi& api = bench.api;
  char name[256] = "";
  char start[5] = "";
  bench.Is("name", api.DeviceGetName(name, sizeof(name), 0));
  bench.Holds("is there", name[0] != '\0');
  bench.Is("name in five bytes", api.DeviceGetName(start, sizeof(start), 0));
  bench.Holds("is its start",
              std::strlen(start) == 4 && std::strncmp(name, start, 4) == 0);
  char address[32] = "";
  unsigned parts[4] = {};
  bench.Is("address", api.DeviceGetPCIBusId(address, sizeof(address), 0));
  bench.Equals("its parts",
               std::sscanf(address, "%x:%x:%x.%x", &parts[0], &parts[1],
                           &parts[2], &parts[3]),
               4);
}

// Memory of one device on its way to another, by every kind of copy.
void Peers(Bench& bench) {
  const DriverApi& api = bench.api;
  CUcontext other = nullptr;
  CUstream there = nullptr;
  CUdeviceptr far = 0;
  CUevent event = bench.Event();
  const CUdeviceptr near = bench.Memory(64);
  int can = 0;
  bench.Is("retain", api.DevicePrimaryCtxRetain(&other, 1));
  bench.Is("current", api.CtxSetCurrent(other));
  bench.Is("create", api.StreamCreate(&there, CU_STREAM_NON_BLOCKING));
  bench.Is("alloc", api.MemAlloc(&far, 64));
  bench.Is("can access", api.DeviceCanAccessPeer(&can, 1, 0));
  int supported = 0;
  bench.Is("attribute",
           api.DeviceGetP2PAttribute(
               &supported, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 1, 0));
  bench.Equals("access supported", supported, can);
  const CUresult enabled = api.CtxEnablePeerAccess(bench.context, 0);
  bench.Is("enable", enabled,
           can != 0 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  bench.Is("launch", bench.Launch(bench.one, "set_word", near, 5u));
  bench.Is("record", api.EventRecord(event, bench.one));
  bench.Is("wait of the other device", api.StreamWaitEvent(there, event, 0));
  bench.Is("peer copy",
           api.MemcpyPeerAsync(far, other, near, bench.context, 64, there));
  bench.Is("launch", bench.Launch(there, "add_word", far, 10u));
  if (can != 0) {
    bench.Is("launch over the link",
             bench.Launch(there, "copy_word", far + 4, near));
  }
  uint32_t words[2] = {};
  bench.Is("DtoH", api.MemcpyDtoHAsync(words, far, 8, there));
  bench.Is("synchronize", api.StreamSynchronize(there));
  bench.Equals("word 0", words[0], 15u);
  bench.Equals("word 1", words[1], can != 0 ? 5u : 0u);
  bench.Is("free", api.MemFree(far));
  bench.Is("destroy", api.StreamDestroy(there));
  bench.Is("current", api.CtxSetCurrent(bench.context));
  bench.Is("release", api.DevicePrimaryCtxRelease(1));
}

void PeerAttributes(Bench& bench) {
  const DriverApi& api = bench.api;
  int value = 0;
  bench.Is("of a device and itself",
           api.DeviceGetP2PAttribute(
               &value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
           CUDA_ERROR_INVALID_DEVICE);
  bench.Is("of no device",
           api.DeviceGetP2PAttribute(
               &value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 4096),
           CUDA_ERROR_INVALID_DEVICE);
}

constexpr Rule kRules[] = {
    {"context.stack", "cuda.h:6404", Stack},
    {"context.primary", "cuda.h:5896", Primary},
    {"context.foreign_function", "cuda.h:17492", ForeignFunction},
    {"context.devices", "cuda.h:5498", Devices},
    {"context.names", "cuda.h:5324, 9194", Names},
    {"context.peers", "cuda.h:23855, 15236", Peers, /*devices=*/2},
    {"context.peer_attributes", "cuda.h:23940", PeerAttributes},
};

}  // namespace

absl::Span<const Rule> ContextRules() { return kRules; }

}  // namespace partita::driver_rules
